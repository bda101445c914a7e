//! The scripted model: plays the agent's part of a scenario, for the real servers over HTTP and for the stand-in
//! in process. It is the one script engine; nobody else interprets a scenario's agent.
//!
//! * [`chat`] — a request in the OpenAI dialect, reduced to what a script needs.
//! * [`script`] — a request → the deltas of the answer. A pure function: two sessions can't disturb each other.
//! * [`http`] — the same over `/v1/chat/completions` and `/v1/models`.

pub mod chat;
pub mod http;
pub mod script;

pub use chat::ChatRequest;
pub use script::{Answer, Delta, FinishReason, Script, Usage};
