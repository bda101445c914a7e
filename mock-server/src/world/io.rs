//! The world's vocabulary: what happens to it, and what it does. Whoever drives a world speaks it.

use super::effect::{Effect, EffectResult, ShellNews};
use super::kept::Kept;
use super::mcp::ProgramNews;
pub use super::sources::Overlay;
use crate::model::{Delta, Usage};
use crate::project_files::NextFiles;
use crate::providers::Access;
use bytes::Bytes;
use fixtures::fault_plan::StreamName;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names a request until its reply; the driver chooses it.
pub type Ticket = u64;
/// Names an effect until its result; the world chooses it.
pub type EffectId = u64;

/// Something that happens to the world.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A client asks.
    Request(ApiRequest),
    /// The model answers, piece by piece.
    Model(EffectId, Delta),
    /// The model's answer does not come, or not whole.
    ModelFailed(EffectId, ModelFailure),
    /// An effect is done.
    Done(EffectId, EffectResult),
    /// A shell line that runs has something to tell.
    Shell(EffectId, ShellNews),
    /// A program that was started has something to tell.
    Program(EffectId, ProgramNews),
    /// Another process has kept something, or does not any more.
    Recall(Kept),
    /// The server has lost all that it kept.
    Forget,
    /// The server ends and starts again.
    Restart {
        /// It is asked to.
        is_asked: bool,
    },
}

/// How the model's answer fails.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelFailure {
    /// The provider refuses.
    Refused(Box<Refusal>),
    /// The connection breaks before anything of the answer comes, and what was asked.
    NoAnswer(String),
    /// Nobody takes the connection, and what was to be asked.
    Unreachable(String),
    /// The connection breaks in the middle of the answer.
    CutOff,
    /// The answer ends as if that were all, without a reason for the end that is known.
    Unfinished(Usage),
    /// The provider tells of an error in the middle of the answer.
    Told(Value),
    /// A piece of the answer is no JSON.
    Garbled(String),
    /// A call begins without this.
    Nameless(&'static str),
}

/// A refusal, as it came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refusal {
    /// The status code.
    pub status: u16,
    /// The words of the status.
    pub phrase: String,
    /// The headers, by name.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: String,
    /// What was asked.
    pub url: String,
}

/// A request, free of HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApiRequest {
    /// Names the reply.
    pub ticket: Ticket,
    /// `GET`, `POST`, …
    pub method: String,
    /// The path, decoded by segment and in the words of `/doc`; a slash in a segment is written `%2F`.
    pub path: String,
    /// The query, decoded.
    pub query: Vec<(String, String)>,
    /// The directory that a header names.
    pub directory_header: Option<String>,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// Host and port, as the client calls them.
    pub host: String,
    /// The body's bytes.
    pub body: Bytes,
    /// What its headers say to who keeps the door of a terminal.
    pub knock: Knock,
}

/// How somebody knocks at the door of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Knock {
    /// The connection is to become a WebSocket.
    pub upgrades: bool,
    /// Who asks for a ticket says so in a header that pages of others can't send.
    pub asks_for_ticket: bool,
    /// No page of a stranger asks.
    pub is_at_home: bool,
}

/// A reply, free of HTTP.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiReply {
    /// The status code.
    pub status: u16,
    /// Headers that this reply alone has.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: ReplyBody,
}

/// A reply's body.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyBody {
    /// No bytes and no content type.
    Empty,
    /// JSON.
    Json(Value),
    /// The page of the server's web client.
    WebPage {
        /// Only its head is asked for.
        is_head: bool,
    },
    /// The world has nothing to say to this operation; its name, and the request that meant it.
    NotPlayed {
        /// The folder that the request is about.
        directory: String,
        /// Method and path.
        words: String,
        /// `server.about`, ….
        operation: String,
        /// The request.
        request: Box<ApiRequest>,
    },
    /// The configuration as it was recorded, with what clients have set.
    Configured {
        /// Where it is asked for.
        directory: String,
        /// The request.
        request: Box<ApiRequest>,
        /// What clients have set.
        over: Map<String, Value>,
    },
    /// A list of the next generation as it was recorded, with what files of the workspace say.
    NextList {
        /// The request.
        request: Box<ApiRequest>,
        /// The folder that is meant.
        directory: String,
        /// What they say.
        files: Arc<NextFiles>,
    },
    /// Where settings come from, as it was recorded.
    Sources {
        /// The request.
        request: Box<ApiRequest>,
        /// The file of the server's own settings, when there is one.
        global: Option<String>,
        /// The places in the project.
        project: Vec<Value>,
    },
    /// Settings with where each comes from.
    Overlay(Box<Overlay>),
    /// The providers that can be used, or all; those without a key as they were recorded.
    Providers {
        /// Where they are asked for.
        directory: String,
        /// Which can be used.
        access: Access,
        /// Those that can't be used, too.
        all: bool,
        /// Whoever has been given a key counts as connected.
        by_key: bool,
    },
    /// Plain text.
    Text(String),
    /// Bytes of this content type.
    Bytes(String, Vec<u8>),
}

/// Something that the world does.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Answers a request.
    Reply(Ticket, ApiReply),
    /// Answers a request with an event stream.
    Open(Ticket, Subscription),
    /// Sends an event.
    Event(Event),
    /// Sends what lasts of a session to those who listen to that session alone.
    SessionEvent(String, Value),
    /// Wants something done.
    Effect(EffectId, Effect),
    /// Says a line to the program that an effect has started.
    Tell(EffectId, String),
    /// Wants nothing of an effect any more: whatever it brings is dropped.
    Drop(EffectId),
    /// Ends all streams, and drops all requests; impolitely, connections break.
    HangUp {
        /// What was sent before that still arrives.
        politely: bool,
    },
    /// Ends the streams that carry the events of this directory alone.
    Close(String),
    /// Makes the screen of the terminal of this name so many rows high and so many columns wide.
    Draw(String, u16, u16),
    /// Has something last.
    Keep(Kept),
}

/// Which events a stream carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// The stream.
    pub stream: StreamName,
    /// What its events are of: a directory, or a session; of all, when absent.
    pub of: Option<String>,
    /// The first events, for this stream alone.
    pub hello: Vec<Value>,
}

/// An event, not yet bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The instance that it belongs to, or `global`.
    pub directory: String,
    /// That instance's project, if it is one's.
    pub project: Option<String>,
    /// It is sent on `/event` too, not only on `/global/event`.
    pub on_event: bool,
    /// The event itself.
    pub payload: Value,
    /// Its place in its session, if it lasts.
    pub durable: Option<Value>,
    /// What the next generation is told of it, where that is not what the event tells.
    pub data: Option<Value>,
}
