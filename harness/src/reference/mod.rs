//! The reference adapter: a client that keeps every promise which the checks examine, so that a red check is the
//! client's fault and not the check's.
//!
//! A core without input or output, and a shell around it:
//! * [`core`] — [`Core::step`]: an input in, outputs out. All behaviour is here.
//! * [`io`] — what goes in and what comes out.
//! * `commands` — what the core does with a request of the harness; `answers` — and with the server's answer to it.
//! * `channel` — an event stream: opened, silent, lost, opened again. `live` — what its events do.
//! * `refresh` — decision 7: after a gap in the stream, everything is fetched anew and shown at once.
//! * `event` — the server's JSON → the few facts that matter; `event_types` — what does not matter.
//! * `task`, `turn` and `timeline` — what is known of one task (rows, images, changed files), and which updates that makes.
//! * `family` — whose agent has created a session.
//! * `features` — rules that answer requests for leave; what the screen offers. `answer_all` — many at once.
//! * `follow_up` — a countdown that answers questions.
//! * `history` — edits, going back, copies. `aside` — what is asked beside a task. `tools` — servers of tools.
//! * `cutover` — whose a task is, and tasks that are over for good.
//! * `call` — what waits for the server.
//! * `life` — a server that the adapter starts itself; `ending` — its end; `child` — its process.
//! * `guard` — paths that lead out of the workspace.
//! * `credentials` — the file in which the server keeps keys.
//! * `publish` — how updates, signals and log lines leave, and how often.
//! * [`strategy`] — the seams at which mutants differ.
//! * [`shell`] — requests, timers and the harness's lines; `streams` — the event streams that are open.
//!
//! It imports nothing of the stand-in, or the two could be wrong together.

mod answer_all;
mod answers;
mod aside;
mod call;
mod channel;
mod child;
mod commands;
pub mod core;
mod credentials;
mod cutover;
mod ending;
mod event;
mod event_types;
mod family;
mod features;
mod follow_up;
mod guard;
mod history;
pub mod io;
mod life;
mod live;
mod platform;
mod publish;
mod question;
mod refresh;
pub mod shell;
pub mod strategy;
mod streams;
mod task;
mod timeline;
mod tools;
mod turn;

#[cfg(test)]
mod core_tests;
#[cfg(test)]
mod files_tests;
#[cfg(test)]
mod history_tests;
#[cfg(test)]
mod life_tests;
#[cfg(test)]
mod refresh_tests;
#[cfg(test)]
mod script;
#[cfg(test)]
mod shell_tests;

pub use core::Core;
pub use io::{Input, Output};
pub use shell::{ServeError, serve, serve_over};
pub use strategy::Strategies;
