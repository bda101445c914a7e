//! How events are told: with or without a `sync` twin, of an instance, of no project, of the server itself.

use super::{Event, Output, World};
use crate::profile::BootTiming;
use serde_json::{Map, Value, json};

impl World {
    /// Sends an event of an instance.
    pub(super) fn emit(&mut self, directory: &str, kind: &str, properties: Value) {
        let id = self.ids.ascending("evt", self.now_ms);
        self.send(directory, true, payload(id, kind, properties), None);
    }

    /// Sends an event of a session, and its `sync` twin.
    pub(super) fn emit_synced(&mut self, session: &str, kind: &str, properties: Value) {
        let Some(properties) = self.unless_late(session, kind, properties) else { return };
        let Some(owner) = self.sessions.get_mut(session).filter(|owner| !owner.is_gone) else { return };
        let directory = owner.directory.clone();
        let seq = owner.next_seq();
        self.touch_kept(session);
        let id = self.ids.ascending("evt", self.now_ms);
        let twin = json!({"type": "sync", "syncEvent": {
            "id": id, "type": format!("{kind}.1"), "seq": seq, "aggregateID": session, "data": properties,
        }, "id": id});
        self.remember_told(session, seq, &id, &format!("{kind}.1"), &properties);
        let durable = Some(json!({"aggregateID": session, "seq": seq, "version": 1}));
        self.send(&directory, true, payload(id, kind, properties), durable);
        self.send(&directory, self.profile.sync_on_event, twin, None);
    }

    /// Sends an event of a session that has no twin.
    pub(super) fn emit_session(&mut self, session: &str, kind: &str, properties: Value) {
        let Some(properties) = self.unless_late(session, kind, properties) else { return };
        match self.sessions.get(session).map(|session| session.directory.clone()) {
            Some(directory) => self.emit_about(session, &directory, kind, properties),
            None => self.touch_kept(session),
        }
    }

    /// The same of a session that may be deleted by now: who has asked knows its folder.
    pub(super) fn emit_about(&mut self, session: &str, directory: &str, kind: &str, properties: Value) {
        // What comes piece by piece lasts when it is whole.
        if kind != "message.part.delta" {
            self.touch_kept(session);
        }
        self.emit(directory, kind, properties);
    }

    pub(super) fn send(&mut self, directory: &str, on_event: bool, payload: Value, durable: Option<Value>) {
        let project = Some(self.project_of(directory));
        self.outputs.push(Output::Event(Event {
            directory: directory.to_owned(),
            project,
            on_event,
            payload,
            durable,
            data: None,
        }));
    }

    /// Sends an event of an instance that names no project.
    pub(super) fn emit_outside_project(&mut self, directory: &str, kind: &str, properties: Value) {
        let id = self.ids.ascending("evt", self.now_ms);
        let payload = payload(id, kind, properties);
        let directory = directory.to_owned();
        self.outputs.push(Output::Event(Event {
            directory,
            project: None,
            on_event: true,
            payload,
            durable: None,
            data: None,
        }));
    }

    /// Sends an event of the server itself.
    pub(super) fn emit_global(&mut self, kind: &str, properties: Value) {
        let id = self.ids.ascending("evt", self.now_ms);
        let payload = json!({"type": kind, "properties": properties, "id": id});
        let directory = "global".to_owned();
        self.outputs.push(Output::Event(Event {
            directory,
            project: None,
            on_event: false,
            payload,
            durable: None,
            data: None,
        }));
    }

    /// An instance tells about its plugins, once.
    pub(super) fn boot(&mut self, directory: &str, timing: BootTiming) {
        if self.profile.boot == timing
            && !self.lacks_folder(directory)
            && self.booted.insert(directory.to_owned())
        {
            // Whose branches nobody watches needs its plugins later.
            let is_plain = timing == BootTiming::AtConnect && self.repository_of(directory).is_none();
            let events = if is_plain { (self.profile.boot_first)() } else { self.profile.boot_events() };
            for (kind, properties) in events {
                self.emit(directory, kind, properties);
            }
            self.look_for_copies(directory);
        }
    }

    /// An instance that has booted at the first connection tells of its plugins again, once.
    pub(super) fn boot_again(&mut self, directory: &str) {
        if self.booted_next.insert(directory.to_owned()) {
            // What files say to the next generation is known from here on.
            if !self.next_files.contains_key(directory) {
                self.read_next(directory, None);
            }
            for (kind, properties) in self.profile.plugin_events() {
                self.emit(directory, kind, properties);
            }
            self.look_for_copies(directory);
        }
    }

    /// The instance of the next generation's routes is told, too, where instances are told late.
    pub(super) fn boot_next(&mut self, directory: &str) {
        if self.lacks_folder(directory) || !self.booted_next.insert(directory.to_owned()) {
            return;
        }
        if !self.next_files.contains_key(directory) {
            self.read_next(directory, None);
        }
        for (kind, properties) in self.profile.plugin_events() {
            let id = self.ids.ascending("evt", self.now_ms);
            let payload = payload(id, kind, properties);
            let directory = directory.to_owned();
            self.outputs.push(Output::Event(Event {
                directory,
                project: None,
                on_event: true,
                payload,
                durable: None,
                data: None,
            }));
        }
        self.look_for_copies(directory);
    }
}

/// An event. Its properties are moved and not copied, as `json!` would: a long answer is told in thousands of them.
fn payload(id: String, kind: &str, properties: Value) -> Value {
    let mut payload = Map::with_capacity(3);
    payload.insert("id".to_owned(), Value::String(id));
    payload.insert("type".to_owned(), Value::String(kind.to_owned()));
    payload.insert("properties".to_owned(), properties);
    Value::Object(payload)
}
