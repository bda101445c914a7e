//! What the adapter asks of the server, and what the server sends.

use crate::reference::strategy::showing::session_of;
use fixtures::fault_plan::StreamName;
use fixtures::recording::HowEnded;
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// A request of the adapter to the server, and what came of it.
#[derive(Debug)]
pub struct Exchange {
    /// Where in the history.
    pub line: usize,
    /// When.
    pub at_us: u64,
    /// Its method.
    pub method: String,
    /// Its path, without the query.
    pub path: String,
    /// The folder that it names, in the query or in a header.
    pub folder: Option<String>,
    /// The page that asks, if one does.
    pub origin: Option<String>,
    /// Its body, if it is JSON.
    pub body: Value,
    /// What the server answered.
    pub answer: Option<Answer>,
    /// Where and when the answer ended, if that was seen.
    pub end: Option<(usize, u64)>,
    /// How it ended.
    pub how: Option<HowEnded>,
    /// When its latest bytes were sent.
    pub bytes_us: Option<u64>,
    /// Of a stream: what came on it.
    pub events: Vec<Sent>,
}

/// An answer of the server.
#[derive(Debug)]
pub struct Answer {
    /// Where in the history.
    pub line: usize,
    /// When.
    pub at_us: u64,
    /// Its status.
    pub status: u16,
    /// How long the server wants to be left alone.
    pub retry_after_s: Option<u64>,
    /// Its body, if it is JSON.
    pub body: Value,
}

/// An event of the server.
#[derive(Debug, Clone)]
pub struct Sent {
    /// Where in the history.
    pub line: usize,
    /// When.
    pub at_us: u64,
    /// What.
    pub event: Value,
    /// Every check asks for these.
    kind: Box<str>,
    session: Option<Box<str>>,
}

impl Sent {
    /// What was sent then; the stream of all folders wraps each event.
    pub(crate) fn new(line: usize, at_us: u64, event: Value) -> Self {
        let event = unwrapped(event);
        let kind = event["type"].as_str().unwrap_or_default().into();
        let session = session_of(&event).map(Into::into);
        Self { line, at_us, event, kind, session }
    }

    /// Its type.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The session that it names.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

/// The stream of all folders wraps each event.
fn unwrapped(mut event: Value) -> Value {
    match event.get_mut("payload") {
        Some(inner) => inner.take(),
        None => event,
    }
}

impl Exchange {
    /// Is it an event stream?
    #[must_use]
    pub fn is_stream(&self) -> bool {
        StreamName::from_path(&self.path).is_some()
    }

    /// The answer's status.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.answer.as_ref().map(|answer| answer.status)
    }

    /// Was it answered as it was wanted, and did all of the answer come?
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.status().is_some_and(|status| (200..300).contains(&status)) && !self.is_torn()
    }

    /// Did the server answer, and its reader never have all of it? A stream has no whole.
    #[must_use]
    pub fn is_torn(&self) -> bool {
        !self.is_stream() && self.how.is_some_and(|how| how != HowEnded::ClosedByServer)
    }
}

pub(super) fn exchange(line: usize, request: &fixtures::recording::Request) -> Exchange {
    let query =
        request.query.trim_start_matches('?').split('&').find_map(|pair| pair.strip_prefix("directory="));
    let header = |is: fn(&str) -> bool| {
        request.headers.iter().find(|(name, _)| is(name)).map(|(_, value)| value.clone())
    };
    // The servers decode it with its query, and then once more.
    let decoded = |value: String| percent_decode_str(&value).decode_utf8_lossy().into_owned();
    let query = query.map(|value| decoded(value.replace('+', " ")));
    let folder = query.or_else(|| header(|name| name.ends_with("-directory"))).map(decoded);
    Exchange {
        line,
        at_us: request.at_us,
        method: request.method.clone(),
        path: request.path.clone(),
        folder,
        origin: header(|name| name == "origin"),
        body: request.body.json().unwrap_or_default(),
        answer: None,
        end: None,
        bytes_us: None,
        how: None,
        events: Vec::new(),
    }
}
