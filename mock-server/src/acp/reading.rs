//! Kilo keeps no files for agents, and looks whether it does anew in each step, when the model has begun to answer: what the
//! answer says is told behind that, and its calls begin meanwhile. So who edits is asked before anybody has heard of the
//! call; an answer that is aborted meanwhile nobody hears of (`world/unsaid.rs` forgets it).
//!
//! In 25 recorded questions all 18 for an edit in a fresh message came before its words, and all 7 behind them that were
//! asked late: a shell line takes its time, and a message that has begun is told at once.

use super::agent::Inner;
use super::events::{Told, take};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// So long it looks.
const LOOKS: Duration = Duration::from_millis(crate::world::UNSAID_MS);

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
            Some(
                "message.updated"
                    | "message.part.updated"
                    | "message.part.delta"
                    | "session.status"
                    | "session.error"
            )
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

/// Tells of one session what comes; each answer when it has begun for a while.
async fn tell(inner: Arc<Inner>, told: Arc<Mutex<Told>>, mut events: UnboundedReceiver<Value>) {
    let mut begun = BTreeSet::new();
    let mut held = VecDeque::new();
    loop {
        let next = match held.pop_front() {
            Some(event) => Some(event),
            None => events.recv().await,
        };
        let Some(event) = next else { return };
        let is_new = message_of(&inner, &event).is_some_and(|message| begun.insert(message));
        if !is_new || is_heard_out(&inner, &mut events, &mut held).await {
            take(&inner, &mut locked(&told), &event);
        }
    }
}

/// Waits until an answer may be told. Nobody hears of it when it is aborted before that.
async fn is_heard_out(
    inner: &Inner,
    events: &mut UnboundedReceiver<Value>,
    held: &mut VecDeque<Value>,
) -> bool {
    let looked = inner.clock.wait_or_skip(LOOKS);
    tokio::pin!(looked);
    loop {
        tokio::select! {
            biased;
            () = &mut looked => return true,
            Some(event) = events.recv() => {
                let is_aborted = event["properties"]["error"]["name"] == "MessageAbortedError";
                if is_aborted {
                    held.clear();
                    return false;
                }
                held.push_back(event);
            }
        }
    }
}

/// The message whose answer this event tells of.
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
