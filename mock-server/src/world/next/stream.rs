//! The event streams of the next generation: of all that happens, and of what lasts of one session.

use super::super::{ApiRequest, Output, Subscription, Ticket, World};
use super::query;
use fixtures::fault_plan::StreamName;
use serde_json::{Value, json};

impl World {
    /// `GET /api/event`.
    pub(super) fn subscribe_next(&mut self, ticket: Ticket) {
        let id = self.ids.ascending("evt", self.now_ms);
        let hello = vec![json!({"id": id, "type": "server.connected", "data": {}})];
        let subscription = Subscription { stream: StreamName::NextEvent, of: None, hello };
        self.outputs.push(Output::Open(ticket, subscription));
    }

    /// `GET /api/session/{id}/event`: the answer begins with the first event that there is to tell.
    pub(super) fn subscribe_to_session(&mut self, request: &ApiRequest, session: &str) {
        let after = query(request, "after").and_then(|after| after.trim().parse().ok());
        let known = self.history_behind(session, after);
        if known.is_empty() {
            let Some(owner) = self.sessions.get_mut(session) else { return };
            return owner.notes.listeners.push((request.ticket, after.unwrap_or_default()));
        }
        self.open_session_stream(request.ticket, session, known);
    }

    fn open_session_stream(&mut self, ticket: Ticket, session: &str, hello: Vec<Value>) {
        let of = Some(session.to_owned());
        let subscription = Subscription { stream: StreamName::SessionEvent, of, hello };
        self.outputs.push(Output::Open(ticket, subscription));
    }

    /// Something that lasts has happened in a session.
    pub(super) fn tell_listeners(&mut self, session: &str, seq: u64, event: Value) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let waiting = std::mem::take(&mut owner.notes.listeners);
        self.outputs.push(Output::SessionEvent(session.to_owned(), event.clone()));
        let (hear, wait): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(_, after)| seq > *after);
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.notes.listeners = wait;
        }
        for (ticket, _) in hear {
            self.open_session_stream(ticket, session, vec![event.clone()]);
        }
    }
}
