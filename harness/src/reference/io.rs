//! What goes into the core and what comes out: all that passes between the adapter and the world.

use crate::net::RetryAfter;
use crate::protocol::{Connect, Id, Notification, Request, RpcError, ServerSpawn};
use serde_json::Value;

/// Something happened outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// The harness asks.
    Command(Id, Request),
    /// The head of a stream's answer arrived, with status 200.
    StreamOpened {
        /// Which stream; news of any but the last one is stale.
        stream: u64,
    },
    /// The server did not open the stream.
    StreamRefused {
        /// Which stream.
        stream: u64,
        /// The status it answered.
        status: u16,
        /// How long the server wants to be left alone.
        retry_after: Option<RetryAfter>,
    },
    /// Bytes arrived that are no event, or not yet a whole one.
    StreamAlive {
        /// Which stream.
        stream: u64,
    },
    /// A whole event arrived: the text of its `data`.
    StreamEvent {
        /// Which stream.
        stream: u64,
        /// JSON, if all is well.
        data: String,
    },
    /// The stream ended, or could not be opened.
    StreamEnded {
        /// Which stream.
        stream: u64,
        /// How.
        reason: String,
    },
    /// A request was answered, or failed.
    HttpDone {
        /// Which request.
        request: u64,
        /// Status and body, or why there are none.
        answer: Result<(u16, String), String>,
    },
    /// The process of a server runs.
    ServerStarted {
        /// Which start.
        start: u64,
        /// The password that it was given.
        password: String,
    },
    /// There is no process.
    ServerNotStarted {
        /// Which start.
        start: u64,
        /// Why.
        why: String,
    },
    /// A line of its standard output.
    ServerSaid {
        /// Which start.
        start: u64,
        /// The line.
        line: String,
    },
    /// Its process has ended.
    ServerEnded {
        /// Which start.
        start: u64,
        /// What it said on its standard error.
        words: String,
        /// Its status.
        how: String,
        /// Somebody listens at the port that it was told to take.
        port_taken: bool,
    },
    /// A wait is over.
    TimerFired {
        /// Which.
        timer: Timer,
    },
}

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// Before a stream is opened again: in place of this one.
    Reconnect(u64),
    /// For a sign of life of this stream.
    Silence(u64),
    /// For the turn of this task to go on.
    Turn(String),
    /// Before more of this task is published.
    Publish(String),
    /// Before a rule gives this task leave for this request.
    Approve(String, String),
    /// Before this question of this task is answered with what is suggested.
    Suggest(String, String),
    /// For a server to be ready: the start.
    Start(u64),
    /// Before a server is asked again how it is: the start.
    Health(u64),
    /// Before a server is started again: the start that has ended.
    Again(u64),
    /// Before the tasks of this folder are fetched again.
    Fetch(String),
    /// Before it is looked whether a prompt arrived whose answer did not: the request.
    Look(u64),
}

/// Something shall happen outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// From now on this server is meant; streams to another one are closed.
    UseServer(Connect),
    /// Start the server.
    StartServer {
        /// Which start.
        start: u64,
        /// What is started.
        spawn: Box<ServerSpawn>,
        /// With a password that no start had before.
        fresh_password: bool,
        /// What it starts ends with it.
        whole_group: bool,
        /// How long it may take to end when it is asked to.
        grace_ms: u64,
    },
    /// Ask the server to end; then end it.
    StopServer {
        /// Which start.
        start: u64,
    },
    /// End the server.
    KillServer {
        /// Which start.
        start: u64,
    },
    /// Open the event stream.
    OpenStream {
        /// Which stream.
        stream: u64,
        /// Path and query.
        path: String,
    },
    /// Close this stream, if it is open.
    CloseStream {
        /// Which stream.
        stream: u64,
    },
    /// Send a request.
    Http {
        /// Which request.
        request: u64,
        /// `GET` or `POST`.
        method: &'static str,
        /// Path and query.
        path: String,
        /// JSON, if there is a body.
        body: Option<Value>,
        /// Give up after so long.
        limit_ms: u64,
    },
    /// Tell the harness.
    Emit(Notification),
    /// Answer the harness.
    Answer(Id, Result<Value, RpcError>),
    /// Wait, then report [`Input::TimerFired`].
    StartTimer {
        /// For what.
        timer: Timer,
        /// How long, scaled already.
        ms: u64,
    },
    /// Everything was said.
    Exit,
}
