//! An agent that speaks ACP on stdin and stdout: a translator in front of the stand-in's server, as the real agents are
//! in front of theirs.
//!
//! * [`agent`] — takes messages, knows the methods, and answers; `methods` and `prompt` are what it does for them.
//! * `answers` — a refusal, and the end of a turn in the dialect's own way.
//! * `server` — asks the stand-in over REST; `events` — what it tells on its stream, as updates; `waiting` — when a turn is over.
//! * `directory` — what is known of a folder: modes, models, commands; `config` — how that is offered; `choices` — what of it is chosen.
//! * `tools` — a tool's call as ACP tells it; `permission` — the question before it; `content` — parts of messages.
//! * `sessions` — which sessions there are, and what was chosen in one that is opened again.
//! * `schema` — what a request must be, and the words of its refusal.
//! * [`dialect`] — who says it in which words: the standard, or Kiro's.
//! * [`kiro`] — what Kiro's agent has beside the standard.
//! * `line` — the way out, where faults act; [`breaks`] — those of a plan; [`watch`] — who sees it all, and faults of the process.
//! * [`ids`] — how its own requests are numbered.
//! * [`text`] — the same agent in front of people: text, colours and prompts, and no protocol.

pub mod agent;
mod answers;
pub mod breaks;
mod choices;
mod config;
mod content;
pub mod dialect;
mod directory;
mod events;
pub mod ids;
pub mod kiro;
mod line;
mod methods;
mod patch;
mod permission;
mod pieces;
mod prompt;
mod schema;
mod server;
mod sessions;
pub mod text;
mod tools;
mod waiting;
pub mod watch;

pub use agent::{Agent, AgentOptions};
pub use pieces::Unread;
