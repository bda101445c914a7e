//! Whether the commands of a session run in a sandbox: it is settled when a session first works, and from then on its
//! forks and children take it over.

use super::World;
use super::session::merge;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What is settled of a session's sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sandbox {
    is_on: bool,
    /// How often it was switched since it was settled.
    version: u32,
}

impl Sandbox {
    pub(crate) fn is_on(self) -> bool {
        self.is_on
    }

    fn wire(self, directory: &str) -> Value {
        json!({"directory": directory, "enabled": self.is_on, "available": true, "version": self.version})
    }
}

impl World {
    /// The session is about to work: as the last one of its directory that a person has switched, else outside.
    pub(crate) fn settle_sandbox(&mut self, session: &str) -> Sandbox {
        let Some(owner) = self.sessions.get_mut(session) else { return Sandbox::default() };
        let is_on = self.sandboxed.contains(&owner.directory);
        *owner.sandbox.get_or_insert(Sandbox { is_on, version: 0 })
    }

    /// A new session takes over what is settled of the one that it comes from, which is told before the session is.
    pub(crate) fn inherit_sandbox(&mut self, source: &str, session: &str) {
        if !self.profile.tells_sandbox {
            return;
        }
        let Some(sandbox) = self.sessions.get(source).and_then(|source| source.sandbox) else { return };
        let Some(owner) = self.sessions.get_mut(session) else { return };
        owner.sandbox = Some(Sandbox { version: 0, ..sandbox });
        self.tell_sandbox(session, Sandbox { version: 0, ..sandbox });
    }

    /// `GET /session/{id}/sandbox`.
    pub(crate) fn sandbox_status(&mut self, session: &str) -> Value {
        let sandbox = self.settle_sandbox(session);
        self.sandbox_in_words(session, sandbox)
    }

    /// `POST /session/{id}/sandbox/toggle`.
    pub(crate) fn toggle_sandbox(&mut self, session: &str) -> Value {
        let before = self.settle_sandbox(session);
        let sandbox = Sandbox { is_on: !before.is_on, version: before.version + 1 };
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.sandbox = Some(sandbox);
        }
        let directory = self.sessions.get(session).map(|owner| owner.directory.clone()).unwrap_or_default();
        if sandbox.is_on {
            self.stop_processes_of(session);
            self.sandboxed.insert(directory.clone());
        } else {
            self.sandboxed.remove(&directory);
        }
        let mut told = json!({"sessionID": session});
        merge(&mut told, sandbox.wire(&directory));
        self.emit(&directory, "sandbox.status.changed", told);
        self.sandbox_in_words(session, sandbox)
    }

    /// Answers say, too, that nothing keeps it from working.
    fn sandbox_in_words(&self, session: &str, sandbox: Sandbox) -> Value {
        let directory = self.sessions.get(session).map_or("", |owner| owner.directory.as_str());
        let mut words = sandbox.wire(directory);
        words["reason"] = Value::Null;
        words
    }

    fn tell_sandbox(&mut self, session: &str, sandbox: Sandbox) {
        let Some(directory) = self.sessions.get(session).map(|owner| owner.directory.clone()) else { return };
        let mut told = json!({"sessionID": session});
        merge(&mut told, sandbox.wire(&directory));
        self.emit_outside_project(&directory, "sandbox.status.changed", told);
    }
}
