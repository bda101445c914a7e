//! The world's vocabulary: what happens to it, and what it does. Whoever drives a world speaks it.

use super::mcp::{Program, ProgramNews};
use super::surroundings::{PlaceFound, PlaceWish};
use crate::model::{ChatRequest, Delta, Usage};
use crate::project_files::ProjectFiles;
use crate::providers::Access;
use bytes::Bytes;
use fixtures::fault_plan::StreamName;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

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
    /// The server ends, asked to or not, and starts again.
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
    /// The connection breaks in the middle of the answer.
    CutOff,
    /// The answer ends as if that were all, without a reason for the end that is known.
    Unfinished(Usage),
    /// The provider tells of an error in the middle of the answer.
    Told(Value),
    /// A piece of the answer is no JSON.
    Garbled(String),
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
        /// Method and path.
        words: String,
        /// `server.about`, ….
        operation: String,
        /// The request.
        request: Box<ApiRequest>,
    },
    /// The configuration as it was recorded, with what clients have set.
    Configured {
        /// The request.
        request: Box<ApiRequest>,
        /// What clients have set.
        over: Map<String, Value>,
    },
    /// The providers that can be used, or all; those without a key as they were recorded.
    Providers {
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

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Keep the state of the folder's files, and give it a name.
    Snapshot {
        /// The folder; none when empty.
        directory: String,
    },
    /// What changed between two snapshots.
    Changes {
        /// Name of the older one.
        from: String,
        /// Name of the newer one.
        to: String,
    },
    /// Look at a place: what a file holds, which names a folder has.
    Read {
        /// An absolute path.
        path: String,
    },
    /// Look at a place that is to be read, and at the instructions that lie around it.
    Study {
        /// An absolute path.
        path: String,
    },
    /// Look at all files below a place.
    Search {
        /// An absolute path.
        path: String,
    },
    /// Write a text file, with the folders above it.
    Write {
        /// An absolute path.
        path: String,
        /// The content.
        content: String,
    },
    /// Say which of these absolute paths are folders; nothing else of them is looked at.
    Look {
        /// The paths.
        paths: Vec<String>,
    },
    /// Get a page.
    Fetch(PageWish),
    /// Run a shell line, and tell of it while it runs.
    Run(ShellLine),
    /// Start a program, and tell what it says until it is dropped.
    Start(Program),
    /// Make these files as they were in a snapshot; those that it does not have go.
    Restore {
        /// Each with the name of its snapshot; paths are relative to the folder. `None` is every file of the snapshot.
        files: Vec<RestoredFile>,
    },
    /// Come back after all that is already on its way.
    Yield,
    /// Come back when it is this late.
    Wait {
        /// Milliseconds since 1970.
        until_ms: u64,
    },
    /// Ask the model.
    AskModel(ChatRequest),
    /// Something about the machine around the sessions.
    Place(PlaceWish),
    /// What do the files of the workspace say now?
    ReadProject,
}

/// How an effect ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectResult {
    /// The snapshot's name: the id of its git tree.
    Snapshot(String),
    /// The changed files, sorted by path.
    Changes(Vec<FileChange>),
    /// What stands at the place.
    Read(Result<Found, String>),
    /// What stands at the place, and around it.
    Studied(Box<Sight>),
    /// The file is written.
    Written(Result<(), String>),
    /// The paths, and whether each is a folder.
    Looked(Vec<(String, bool)>),
    /// The page, or why there is none.
    Fetched(Result<Page, String>),
    /// Everything before has been done.
    Yielded,
    /// It is that late.
    Waited,
    /// What the machine says.
    Place(PlaceFound),
    /// What the files of the workspace say.
    Project(Box<ProjectFiles>),
}

/// A page that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageWish {
    /// Where it is.
    pub url: String,
    /// What kinds are liked.
    pub accept: &'static str,
    /// How long it may take.
    pub timeout_ms: u64,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its content type.
    pub kind: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A line for the shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellLine {
    /// The line.
    pub line: String,
    /// Where it runs.
    pub directory: String,
    /// What it takes for its person's own folder.
    pub home: String,
    /// How long it may run.
    pub timeout_ms: u64,
}

/// What a running line tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellNews {
    /// It has printed this, to either of its outputs.
    Printed(String),
    /// It is over, and so is all that it started.
    Ended(ShellEnd),
    /// It could not begin.
    Failed(String),
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellEnd {
    /// By itself, with its code; without one it was killed by others.
    Exited(Option<i32>),
    /// It ran for too long.
    TimedOut,
    /// The person ended the turn.
    Stopped,
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// No file and no folder.
    Nothing {
        /// The names beside it, as a folder's; `None` when not even the folder is there.
        beside: Option<Vec<String>>,
    },
    /// A folder: the names in it, sorted; those of folders end in a slash.
    Folder(Vec<String>),
    /// A file: its bytes.
    File(Vec<u8>),
    /// All files below a folder, which are not the repository's own: paths relative to it, sorted, and bytes.
    Tree(Vec<(String, Vec<u8>)>),
}

/// What there is to read at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// The place without links; where nothing stands, its folder.
    pub path: String,
    /// What stands there.
    pub found: Found,
    /// Instructions from the place's folder up to the workspace, which is left out: where they lie, and what they are.
    pub guides: Vec<(String, String)>,
    /// Why none of that is to be shown.
    pub closed: Option<String>,
}

/// What is to be as it was in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredFile {
    /// The snapshot's name.
    pub tree: String,
    /// The file, relative to the folder; every file of the snapshot when absent.
    pub path: Option<String>,
}

/// A file that two snapshots differ in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the folder.
    pub path: String,
    /// The old content; `None` when the file is new.
    pub before: Option<String>,
    /// The new content; `None` when the file is gone.
    pub after: Option<String>,
    /// Its modes before and after, in git's words.
    pub modes: (&'static str, &'static str),
}
