//! Kilo's agent reads a message from its server before it tells of its first words, and asks for permissions meanwhile: who
//! edits is asked before anybody has heard of the call. (A message that is aborted meanwhile it never tells of; this one does.)
//!
//! In 25 recorded questions all 18 for an edit in a fresh message came before its words, and all 7 behind them that were
//! asked late: a shell line takes its time, and a message that was read is told at once.

use super::agent::Inner;
use super::events::{Told, take};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// So long it reads: 60 to 110 ms in the recordings.
const READS: Duration = Duration::from_millis(100);

/// The events of each session, in their order; the sessions do not wait for each other.
pub(super) struct Readings {
    inner: Arc<Inner>,
    sessions: HashMap<String, UnboundedSender<Value>>,
    told: Arc<Mutex<Told>>,
}

impl Readings {
    pub(super) fn new(inner: Arc<Inner>) -> Self {
        Self { inner, sessions: HashMap::new(), told: Arc::default() }
    }

    /// An event of the server's. What is no part of a message waits for none.
    pub(super) fn take(&mut self, event: Value) {
        let properties = &event["properties"];
        let session = [properties, &properties["info"], &properties["part"]]
            .into_iter()
            .find_map(|place| place["sessionID"].as_str());
        let waits = matches!(
            event["type"].as_str(),
            Some("message.updated" | "message.part.updated" | "message.part.delta" | "session.status")
        );
        let Some(session) = session.filter(|_| waits).map(str::to_owned) else {
            return take(&self.inner, &mut locked(&self.told), &event);
        };
        let (inner, told) = (&self.inner, &self.told);
        let sender = self.sessions.entry(session).or_insert_with(|| {
            let (sender, events) = unbounded_channel();
            tokio::spawn(tell(Arc::clone(inner), Arc::clone(told), events));
            sender
        });
        // It listens for as long as this sender lives.
        sender.send(event).ok();
    }
}

fn locked(told: &Mutex<Told>) -> MutexGuard<'_, Told> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells of one session what comes, and reads what it has not read yet.
async fn tell(inner: Arc<Inner>, told: Arc<Mutex<Told>>, mut events: UnboundedReceiver<Value>) {
    let mut read = BTreeSet::new();
    while let Some(event) = events.recv().await {
        if message_of(&inner, &event).is_some_and(|message| read.insert(message)) {
            inner.clock.wait_or_skip(READS).await;
        }
        take(&inner, &mut locked(&told), &event);
    }
}

/// The message that has to be known before this event can be told of.
fn message_of(inner: &Inner, event: &Value) -> Option<String> {
    let properties = &event["properties"];
    let part = &properties["part"];
    let (session, message) = match event["type"].as_str()? {
        "message.part.delta" => (properties["sessionID"].as_str()?, properties["messageID"].as_str()?),
        "message.part.updated" if part["type"] == "tool" && !is_copied(inner, part) => {
            (part["sessionID"].as_str()?, part["messageID"].as_str()?)
        }
        _ => return None,
    };
    inner.session(session)?;
    Some(message.to_owned())
}

/// Was this part told with all that was said before its session was forked?
fn is_copied(inner: &Inner, part: &Value) -> bool {
    part["id"].as_str().is_some_and(|id| inner.state().copied.contains(id))
}
