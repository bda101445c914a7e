//! A session of the next generation is taken back: staged, cleared, committed. No agent ever works in one, so there are
//! no files to put back.

use super::super::routes::body_of;
use super::super::{ApiRequest, Purpose, Ticket, World};
use super::notes::Told;
use serde_json::{Value, json};

impl World {
    /// `POST /api/session/{id}/revert/stage`.
    pub(super) fn stage_revert(&mut self, request: &ApiRequest, id: &str) {
        let message = body_of(request)["messageID"].as_str().unwrap_or_default().to_owned();
        let Some(session) = self.sessions.get(id) else { return };
        if !session.notes.messages.iter().any(|note| note.wire["id"] == *message) {
            return self.no_such_message(request.ticket, id, &message);
        }
        if let Some(snapshot) = session.revert.as_ref().and_then(|revert| revert["snapshot"].as_str()) {
            let snapshot = snapshot.to_owned();
            return self.staged(request.ticket, id, &message, &snapshot);
        }
        let snapshot = self.snapshot_of(&session.directory);
        let purpose = Purpose::NextRevert(request.ticket, id.to_owned(), message);
        self.effect(purpose, snapshot);
    }

    /// The files are known as they are now.
    pub(in super::super) fn staged(&mut self, ticket: Ticket, id: &str, message: &str, tree: &str) {
        let revert = json!({"messageID": message, "snapshot": tree, "diff": "", "files": []});
        let now = self.now_ms;
        self.note(id, "revert.staged", Told::OfRequest, now, json!({"revert": revert}));
        self.set_revert(id, Some(json!({"messageID": message, "snapshot": tree, "diff": ""})));
        self.reply_json(ticket, json!({"data": revert}));
    }

    fn set_revert(&mut self, id: &str, revert: Option<Value>) {
        let now = self.now_ms;
        if let Some(session) = self.sessions.get_mut(id) {
            session.notes.reverts_files = revert.is_some();
            session.revert = revert;
            session.touch(now);
        }
    }

    /// `POST /api/session/{id}/revert/clear`.
    pub(super) fn unstage_revert(&mut self, ticket: Ticket, id: &str) {
        if self.sessions.get(id).is_some_and(|session| session.revert.is_some()) {
            let now = self.now_ms;
            self.note(id, "revert.cleared", Told::OfRequest, now, json!({}));
            self.set_revert(id, None);
        }
        self.no_content(ticket);
    }

    /// `POST /api/session/{id}/revert/commit`: what came after the message is gone.
    pub(super) fn commit_revert(&mut self, ticket: Ticket, id: &str) {
        let session = self.sessions.get(id);
        let Some(message) =
            session.and_then(|session| session.revert.as_ref()).map(|revert| revert["messageID"].clone())
        else {
            return self.no_content(ticket);
        };
        let notes = session.map(|session| session.notes.messages.as_slice()).unwrap_or_default();
        let Some(place) = notes.iter().find(|note| note.wire["id"] == message).map(|note| note.seq) else {
            return self.unknown_error(ticket);
        };
        let now = self.now_ms;
        self.note(id, "revert.committed", Told::OfRequest, now, json!({"messageID": message}));
        if let Some(session) = self.sessions.get_mut(id) {
            session.notes.messages.retain(|note| note.seq <= place);
            session
                .notes
                .prompts
                .retain(|prompt| prompt.seq <= place && prompt.promoted.is_none_or(|seq| seq <= place));
        }
        self.set_revert(id, None);
        self.no_content(ticket);
    }
}
