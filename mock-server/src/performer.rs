//! What the HTTP shell needs of whoever answers: the stateful world, or a recording that is played again.

use crate::model::{ChatRequest, ModelNews, Report};
use crate::world::{ApiRequest, Page, PageWish, ProgramNews, ShellLine, ShellNews, Ticket, ToolServer};
use bytes::Bytes;
use fixtures::fault_plan::{During, StreamName};
use fixtures::recording::ModelCall;
use fixtures::scenario::Ending;
use serde::Serialize;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Answers requests.
pub trait Performer: Send {
    /// Takes a request; returns what follows from it, in order. `now` looks at the clock.
    fn take(&mut self, request: ApiRequest, now: &dyn Fn() -> u64) -> Vec<Act>;

    /// Shall it do one thing at a time, so that something may happen between two events? What it leaves for later
    /// follows with [`Performer::go_on`].
    fn take_steps(&mut self, steps: bool) {
        let _ = steps;
    }

    /// What follows of what it has left for later; none when nothing is left.
    fn go_on(&mut self, now: &dyn Fn() -> u64) -> Option<Vec<Act>> {
        let _ = now;
        None
    }

    /// Lets the model go on that waits at this gate, now or later. A performer without a model has none.
    fn open_gate(&mut self, name: &str, now: &dyn Fn() -> u64) -> Vec<Act> {
        let _ = (name, now);
        Vec::new()
    }

    /// How a gate stands. A performer without a model has none that anybody opened.
    fn gate(&self, name: &str) -> Gate {
        let _ = name;
        Gate::Closed
    }

    /// The server ends in this way and starts again over what it has kept; returns what is told before it is gone.
    fn restart(&mut self, ending: Ending, now: &dyn Fn() -> u64) -> Vec<Act> {
        let _ = (ending, now);
        Vec::new()
    }

    /// It begins anew, as a server that has lost all it kept.
    fn forget(&mut self, now: &dyn Fn() -> u64) -> Vec<Act> {
        let _ = now;
        Vec::new()
    }

    /// Does this go on? A performer that does not know says no.
    fn holds(&self, during: During) -> bool {
        let _ = during;
        false
    }

    /// By when shell lines begin that are looked at first, in milliseconds; in the past when there is none.
    fn lines_begin_by(&self) -> Option<u64> {
        None
    }

    /// The permissions that it waits for.
    fn asks(&self) -> Vec<Asked> {
        Vec::new()
    }

    /// What was left over of a script, and what it lacked. A performer without one has nothing to say.
    fn report(&self) -> Report {
        Report::default()
    }

    /// The wait of an [`Act::WakeAfter`] is over; `number` is its own. Returns what follows, in order.
    fn wake(&mut self, _number: usize) -> Vec<Act> {
        Vec::new()
    }

    /// The time of an [`Act::WakeAt`] has come; `number` is its own. Returns what follows, in order.
    fn wake_at(&mut self, number: u64, now: &dyn Fn() -> u64) -> Vec<Act> {
        let _ = (number, now);
        Vec::new()
    }

    /// The shell line of an [`Act::Run`] tells something; `number` is its own. Returns what follows, in order.
    fn shell_says(&mut self, number: u64, news: ShellNews, now: &dyn Fn() -> u64) -> Vec<Act> {
        let _ = (number, news, now);
        Vec::new()
    }

    /// The program of an [`Act::Start`] tells something; `number` is its own. Returns what follows, in order.
    fn program_says(&mut self, number: u64, news: ProgramNews, now: &dyn Fn() -> u64) -> Vec<Act> {
        let _ = (number, news, now);
        Vec::new()
    }

    /// The model of an [`Act::Ask`] says this in one go; `number` is its own. Returns what follows, in order.
    fn model_says(&mut self, number: u64, news: Vec<ModelNews>, now: &dyn Fn() -> u64) -> Vec<Act> {
        let _ = (number, news, now);
        Vec::new()
    }

    /// The page of an [`Act::Fetch`] is there, or it is known why not; `number` is its own. Returns what follows, in order.
    fn fetched(&mut self, number: u64, got: Result<Page, String>, now: &dyn Fn() -> u64) -> Vec<Act> {
        let _ = (number, got, now);
        Vec::new()
    }

    /// A heartbeat for one subscriber of a stream.
    fn heartbeat(&mut self, stream: StreamName, now: &dyn Fn() -> u64) -> Frame;
}

/// How a gate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Gate {
    /// Nobody has opened it, and nothing waits at it.
    Closed,
    /// An answer of the model waits at it.
    Waits,
    /// It is open, for good.
    Open,
}

/// A permission that a server waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Its id.
    pub id: String,
    /// The directory whose instance asks.
    pub directory: String,
}

/// Something that follows from a request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Answers a request: this one, or one that waited.
    Reply(Ticket, WireReply),
    /// Answers a request with an event stream.
    Open(Ticket, Audience, Frame),
    /// Sends a frame.
    Send(Audience, Frame),
    /// Ends the streams of subscribers with exactly this audience.
    Close(Audience),
    /// Ends all streams, and drops all requests; impolitely, connections break.
    HangUp {
        /// What was sent before that still arrives.
        politely: bool,
    },
    /// The model was asked. The line has no time yet.
    Asked(Box<ModelCall>),
    /// Says something to whoever reads the journal.
    Note(String),
    /// Wakes the performer after a while, with this number. In logical time that never happens: it is about how
    /// long a client takes.
    WakeAfter(Duration, usize),
    /// Wakes the performer at this time (milliseconds since 1970), with this number. Logical time leaps there as soon
    /// as all that is on its way is done: it is about how long the server takes.
    WakeAt(u64, u64),
    /// Asks the model that is not in this process, and tells the performer of its answer under this number.
    Ask(u64, ChatRequest),
    /// Runs a shell line, and tells the performer of it under this number.
    Run(u64, ShellLine),
    /// Starts a server of tools, or finds it, and tells the performer of it under this number.
    Start(u64, ToolServer),
    /// Says a line to the program of this number, if it still runs.
    Tell(u64, String),
    /// Gets a page, and gives it to the performer under this number.
    Fetch(u64, PageWish),
    /// The screen of the terminal of this name is to have so many rows and columns.
    Draw(String, u16, u16),
    /// Ends the shell line, the program, the page or the answer of this number, if it still runs.
    EndRun(u64),
}

/// Who gets a frame; for a subscriber, which frames it gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audience {
    /// The stream.
    pub stream: StreamName,
    /// The directory; any when absent.
    pub directory: Option<Arc<str>>,
}

impl Audience {
    /// Does a subscriber get a frame that is meant for `to`?
    #[must_use]
    pub fn hears(&self, to: &Self) -> bool {
        let same_directory = match (&self.directory, &to.directory) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => true,
        };
        self.stream == to.stream && same_directory
    }
}

/// One event as bytes, made once and shared by all who get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The event's type, for faults and journals.
    pub kind: Arc<str>,
    /// The frame, blank line included.
    pub bytes: Bytes,
}

/// A reply, ready for HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireReply {
    /// The status code.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// Headers that this reply alone has.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The body.
    pub body: Bytes,
}

impl WireReply {
    pub(crate) fn new(status: u16, content_type: Option<String>, body: Bytes) -> Self {
        Self { status, content_type, headers: Vec::new(), body }
    }
}
