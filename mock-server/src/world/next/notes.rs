//! What a session knows for the next generation alone, and how its events are told.

use super::super::session::iso_time;
use super::super::{Event, Output, Ticket, World};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a session knows for the next generation alone.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Notes {
    /// Its messages, the oldest first.
    pub(super) messages: Vec<Note>,
    /// All that lasts of its events, the oldest first.
    pub(super) history: Vec<Value>,
    /// All prompts.
    pub(super) prompts: Vec<Admitted>,
    /// The files that a revert is about.
    pub(super) reverts_files: bool,
    /// Who waits for its events; the answer begins with the first of them.
    #[serde(skip)]
    pub(super) listeners: Vec<(Ticket, u64)>,
}

/// A message with its place among all events.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) seq: u64,
    pub(super) wire: Value,
}

/// A prompt that has been taken.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Admitted {
    pub(super) seq: u64,
    pub(super) id: String,
    pub(super) prompt: Value,
    pub(super) delivery: String,
    pub(super) at_ms: u64,
    /// Its place once the session has it.
    pub(super) promoted: Option<u64>,
}

impl Notes {
    /// Who waits for the events of a session waits on when it is another one's.
    pub(in crate::world) fn take_listeners(&mut self, of: &mut Self) {
        self.listeners.append(&mut of.listeners);
    }
}

/// Whom an event is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// All who listen.
    All,
    /// All who listen, where a request's own events are told at all.
    OfRequest,
}

impl World {
    /// Keeps an event of a session and tells it. `data` has everything but time and session; returns its place.
    pub(super) fn note(&mut self, session: &str, kind: &str, told: Told, at_ms: u64, data: Value) -> u64 {
        let version = if kind == "step.failed" { 2 } else { 1 };
        let kind = format!("session.next.{kind}");
        let id = self.ids.ascending("evt", self.now_ms);
        let Some(owner) = self.sessions.get_mut(session) else { return 0 };
        let (directory, seq) = (owner.directory.clone(), owner.next_seq());
        let mut kept = json!({"timestamp": at_ms, "sessionID": session});
        super::super::session::merge(&mut kept, data);
        let durable = json!({"aggregateID": session, "seq": seq, "version": version});
        let event = json!({"id": id, "type": kind, "durable": durable, "data": kept});
        owner.notes.history.push(event.clone());
        self.touch_kept(session);
        self.tell_listeners(session, seq, event);
        self.remember_told(session, seq, &id, &format!("{kind}.{version}"), &kept);
        if told == Told::OfRequest && !self.profile.next_tells_requests {
            return seq;
        }
        let mut properties = kept.clone();
        if self.profile.next_writes_times {
            properties["timestamp"] = json!(iso_time(at_ms));
        }
        self.tell_next(&directory, &id, &kind, (session, seq, version), properties, kept);
        seq
    }

    /// Tells an event that lasts, and its `sync` twin. Events of the next generation name no project.
    pub(super) fn tell_next(
        &mut self,
        directory: &str,
        id: &str,
        kind: &str,
        (session, seq, version): (&str, u64, u32),
        properties: Value,
        data: Value,
    ) {
        let twin = json!({"type": "sync", "syncEvent": {
            "id": id, "type": format!("{kind}.{version}"), "seq": seq, "aggregateID": session, "data": properties,
        }, "id": id});
        let durable = Some(json!({"aggregateID": session, "seq": seq, "version": version}));
        let payload = json!({"id": id, "type": kind, "properties": properties});
        let directory = directory.to_owned();
        let event = Event {
            directory: directory.clone(),
            project: None,
            on_event: true,
            payload,
            durable,
            data: Some(data),
        };
        self.outputs.push(Output::Event(event));
        let on_event = self.profile.sync_on_event;
        let event = Event { directory, project: None, on_event, payload: twin, durable: None, data: None };
        self.outputs.push(Output::Event(event));
    }
}
