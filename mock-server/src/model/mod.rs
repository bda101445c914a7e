//! The scripted model: plays the agent's part of a scenario, for the real servers over HTTP and for the stand-in
//! in process. It is the one script engine; nobody else interprets a scenario's agent.
//!
//! * [`chat`] — a request in the OpenAI dialect, reduced to what a script needs.
//! * `plan` — a turn's steps, cut into the answers to one request each.
//! * [`script`] — a request → the beats of the answer. Two sessions can't disturb each other.
//! * [`gates`] — where an answer waits until the person lets it go on.
//! * `pages` — what the agent can fetch.
//! * [`remote`] — any other model, asked over HTTP as the real servers ask theirs.
//! * [`http`] — the same over `/v1/chat/completions` and `/v1/models`, in the words of `wire`.

pub mod chat;
pub mod gates;
pub mod http;
mod pages;
mod plan;
pub mod remote;
pub mod script;
mod wire;

pub(crate) use chat::MEDIA;
pub use chat::{ChatRequest, OwnUse};
pub use fixtures::scenario::{Finish, FinishReason, Usage};
pub use gates::Gates;
pub use http::{ModelOptions, ModelServer};
pub(crate) use pages::PageServer;
pub(crate) use remote::Reading;
pub use remote::{ModelNews, RemoteModel};
pub use script::{Answer, Beat, Delta, Reply, Report, Script};
pub(crate) use wire::usual_phrase;
