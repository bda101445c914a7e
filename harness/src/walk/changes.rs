//! The steps of a walk that change what is there: sessions, messages, parts.

use super::person::{Person, Session};
use fixtures::ServerKind;
use serde_json::json;

impl Person {
    pub(super) fn makes_a_session(&mut self) {
        self.begins_a_session();
    }

    /// A new session; gives its place.
    pub(super) fn begins_a_session(&mut self) -> usize {
        let name = self.word("s");
        let mut session = Session { name: name.clone(), ..Session::default() };
        let mut target = "POST /session".to_owned();
        let json = match self.below(12) {
            0..=2 => json!({}),
            3..=8 => json!({"title": "A walk"}),
            9 => json!({"metadata": {"of": "a walk"}, "title": "Known"}),
            10 if !self.sessions.is_empty() => {
                let parent = self.alive();
                session.parent = Some(self.sessions[parent].name.clone());
                json!({"parentID": self.name(parent)})
            }
            // Another instance that runs confuses Kilo's server about where it is.
            11 if self.server == ServerKind::Opencode => {
                target = "POST /session?directory=${workspace}/src".to_owned();
                session.is_elsewhere = true;
                json!({"title": "Elsewhere"})
            }
            _ => json!({"title": "One more"}),
        };
        self.request(&target, Some(&json), &[(&name, "/id")]);
        self.sessions.push(session);
        self.sessions.len() - 1
    }

    pub(super) fn changes_a_session(&mut self) {
        let session = self.alive();
        let name = self.name(session);
        let json = match self.below(7) {
            0 => json!({"title": "Another title"}),
            1 => json!({"time": {"archived": 1_700_000_000_000_u64}}),
            2 => json!({"title": ""}),
            3 => json!({"title": "Both", "metadata": {"seen": 2}}),
            4 => {
                self.sessions[session].is_odd = true;
                json!({"permission": [{"permission": "edit", "pattern": "*", "action": "deny"}]})
            }
            5 => json!({}),
            _ => json!({"metadata": {"seen": true}}),
        };
        self.request(&format!("PATCH /session/{name}"), Some(&json), &[]);
    }

    pub(super) fn forks(&mut self) {
        let session = self.alive();
        let (name, fork) = (self.name(session), self.word("s"));
        let of = self.sessions[session].clone();
        let at = if self.rarely(50) { self.message_of(session) } else { None };
        let json = at.map_or_else(|| json!({}), |message| json!({"messageID": message}));
        self.request(&format!("POST /session/{name}/fork"), Some(&json), &[(&fork, "/id")]);
        let fork = Session {
            name: fork,
            has_prompted: of.has_prompted,
            is_odd: of.is_odd,
            is_elsewhere: of.is_elsewhere,
            ..Session::default()
        };
        self.sessions.push(fork);
    }

    pub(super) fn reverts(&mut self) {
        let session = self.alive();
        self.reverts_in(session);
    }

    pub(super) fn reverts_in(&mut self, session: usize) {
        let name = self.name(session);
        let parts = self.sessions[session].parts.clone();
        let part = if self.rarely(25) { self.pick(&parts) } else { None };
        let json = match part {
            Some((message, part)) => {
                json!({"messageID": format!("${{{message}}}"), "partID": format!("${{{part}}}")})
            }
            None => match self.message_of(session) {
                Some(message) => json!({"messageID": message}),
                None => return,
            },
        };
        self.request(&format!("POST /session/{name}/revert"), Some(&json), &[]);
    }

    pub(super) fn takes_a_revert_back(&mut self) {
        let session = self.alive();
        let name = self.name(session);
        self.request(&format!("POST /session/{name}/unrevert"), None, &[]);
    }

    pub(super) fn deletes_a_message(&mut self) {
        let session = self.alive();
        self.deletes_a_message_of(session);
    }

    pub(super) fn deletes_a_message_of(&mut self, session: usize) {
        let name = self.name(session);
        let Some(message) = self.message_of(session) else { return };
        self.request(&format!("DELETE /session/{name}/message/{message}"), None, &[]);
    }

    pub(super) fn changes_a_part(&mut self) {
        let session = self.alive();
        let name = self.name(session);
        let parts = self.sessions[session].parts.clone();
        let Some((message, part)) = self.pick(&parts) else { return };
        let target = format!("/session/{name}/message/${{{message}}}/part/${{{part}}}");
        if self.rarely(50) {
            return self.request(&format!("DELETE {target}"), None, &[]);
        }
        let json = json!({
            "id": format!("${{{part}}}"), "sessionID": name, "messageID": format!("${{{message}}}"),
            "type": "text", "text": "Said otherwise.",
        });
        self.request(&format!("PATCH {target}"), Some(&json), &[]);
    }

    pub(super) fn deletes_a_session(&mut self) {
        if self.sessions.len() < 2 {
            return;
        }
        let session = self.alive();
        let name = self.name(session);
        let mut gone = vec![self.sessions.remove(session).name];
        // Its children go with it.
        while let Some(of) = gone.pop() {
            let is_child = |session: &mut Session| session.parent.as_ref() == Some(&of);
            gone.extend(self.sessions.extract_if(.., is_child).map(|child| child.name));
            self.gone.push(of);
        }
        self.request(&format!("DELETE /session/{name}"), None, &[]);
        self.request(&format!("GET /session/{name}"), None, &[]);
    }
}
