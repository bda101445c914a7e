//! A stream of events that is being kept, and what may be asked about it while it runs.

use crate::clock;
use crate::tape::Tape;
use fixtures::fault_plan::StreamName;
use fixtures::recording::{Chunk, End, HowEnded, Line};
use fixtures::sse::Parser;
use serde_json::Value;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The type of an event, on either stream; empty if it has none.
#[must_use]
pub fn kind(event: &Value) -> &str {
    unwrapped(event).get("type").and_then(Value::as_str).unwrap_or_default()
}

/// A property of an event, on either stream, where it is text.
#[must_use]
pub fn property<'a>(event: &'a Value, name: &str) -> Option<&'a str> {
    unwrapped(event).get("properties")?.get(name)?.as_str()
}

/// `/global/event` wraps its events.
fn unwrapped(event: &Value) -> &Value {
    event.get("payload").unwrap_or(event)
}

/// The stream ended before the event came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stream {} ended ({how:?})", .stream.path())]
pub struct StreamEnded {
    /// Which stream.
    pub stream: StreamName,
    /// Why.
    pub how: HowEnded,
}

/// An open stream. Dropping it closes the connection and writes the end on the tape.
#[derive(Debug)]
pub struct EventStream {
    stream: StreamName,
    exchange: u64,
    tape: Tape,
    shared: Arc<Shared>,
    reader: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Changes whenever the state does.
    changes: watch::Sender<()>,
    /// Is what comes read, or left where it is?
    reads: watch::Sender<bool>,
}

#[derive(Debug)]
struct State {
    events: Vec<Value>,
    last_activity: Instant,
    ended: Option<HowEnded>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventStream {
    /// Keeps what `response` brings.
    pub(crate) fn start(stream: StreamName, exchange: u64, response: reqwest::Response, tape: Tape) -> Self {
        let state = State { events: Vec::new(), last_activity: clock::now(), ended: None };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changes: watch::Sender::new(()),
            reads: watch::Sender::new(true),
        });
        let reader = tokio::spawn(read(response, exchange, tape.clone(), Arc::clone(&shared)));
        Self { stream, exchange, tape, shared, reader }
    }

    /// How many events have come.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shared.lock().events.len()
    }

    /// Was there such an event, from the one at `from` on?
    pub fn has(&self, from: usize, wanted: impl Fn(&Value) -> bool) -> bool {
        self.shared.lock().events.iter().skip(from).any(wanted)
    }

    /// All such events so far, in order.
    pub fn matching(&self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        self.shared.lock().events.iter().filter(|event| wanted(event)).cloned().collect()
    }

    /// All events from the one at `from` on, in order.
    #[must_use]
    pub fn since(&self, from: usize) -> Vec<Value> {
        self.shared.lock().events.get(from..).unwrap_or_default().to_vec()
    }

    /// When the last event came that tells something (heartbeats don't); at first, when the stream was opened.
    #[must_use]
    pub fn last_activity(&self) -> Instant {
        self.shared.lock().last_activity
    }

    /// Waits for an event, from the one at `from` on, and gives it with its place. Events that came already count.
    pub async fn wait_for(
        &self,
        from: usize,
        wanted: impl Fn(&Value) -> bool,
    ) -> Result<(usize, Value), StreamEnded> {
        let mut changes = self.shared.changes.subscribe();
        let mut next = from;
        loop {
            changes.mark_unchanged();
            {
                let state = self.shared.lock();
                while let Some(event) = state.events.get(next) {
                    if wanted(event) {
                        return Ok((next, event.clone()));
                    }
                    next += 1;
                }
                if let Some(how) = state.ended {
                    return Err(StreamEnded { stream: self.stream, how });
                }
            }
            // The sender lives in `shared`, so it can't be gone.
            drop(changes.changed().await);
        }
    }

    /// The id of the last event that has one.
    #[must_use]
    pub fn last_id(&self) -> Option<String> {
        let state = self.shared.lock();
        state.events.iter().rev().find_map(|event| Some(event.get("id")?.as_str()?.to_owned()))
    }

    /// Reads on, or leaves what comes from now on to the network.
    pub fn read_or_stall(&self, reads: bool) {
        self.shared.reads.send_replace(reads);
    }

    /// Closes the connection; what has come stays.
    pub fn close(&self) {
        end(&self.shared, &self.tape, self.exchange, HowEnded::ClosedByClient);
        self.reader.abort();
    }

    /// Waits until the stream has ended, and says why.
    pub async fn ended(&self) -> HowEnded {
        match self.wait_for(usize::MAX, |_| false).await {
            Err(StreamEnded { how, .. }) => how,
            Ok(_) => HowEnded::ClosedByServer,
        }
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.close();
    }
}

/// Reads to the end. Each chunk goes to the tape before its events are shown, so whoever acts on an event finds
/// it before its own lines.
async fn read(mut response: reqwest::Response, exchange: u64, tape: Tape, shared: Arc<Shared>) {
    let mut parser = Parser::new();
    let mut reads = shared.reads.subscribe();
    loop {
        // The sender lives in `shared`, so it can't be gone.
        drop(reads.wait_for(|reads| *reads).await);
        let bytes = match response.chunk().await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return end(&shared, &tape, exchange, HowEnded::ClosedByServer),
            Err(error) => return end(&shared, &tape, exchange, how_broken(&error)),
        };
        {
            let mut state = shared.lock();
            if state.ended.is_some() {
                return;
            }
            tape.push(|at_us| Line::Chunk(Chunk::new(at_us, exchange, &bytes)));
            for frame in parser.feed(&bytes) {
                let event = serde_json::from_str(&frame.data).unwrap_or(Value::String(frame.data));
                if kind(&event) != "server.heartbeat" {
                    state.last_activity = clock::now();
                }
                state.events.push(event);
            }
        }
        shared.changes.send_replace(());
    }
}

/// How a body broke off: the system's own error stands somewhere behind reqwest's.
pub(crate) fn how_broken(error: &reqwest::Error) -> HowEnded {
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        if let Some(system) = inner.downcast_ref::<io::Error>() {
            match system.kind() {
                ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => return HowEnded::Reset,
                ErrorKind::UnexpectedEof => return HowEnded::Cut,
                _ => {}
            }
        }
        cause = inner.source();
    }
    HowEnded::Broken
}

/// Writes the end, once; nothing of this stream follows it on the tape.
fn end(shared: &Shared, tape: &Tape, exchange: u64, how: HowEnded) {
    {
        let mut state = shared.lock();
        if state.ended.is_some() {
            return;
        }
        state.ended = Some(how);
        tape.push(|at_us| Line::End(End { at_us, exchange, how }));
    }
    shared.changes.send_replace(());
}
