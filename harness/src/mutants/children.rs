//! What a subtask's session is told is taken for the task's own. No mutant of its own.

use crate::reference::strategy::{Routing, showing::session_of};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Gives events of one type to the session whose agent has created the one that they are about.
pub(super) struct OfChildren {
    kind: &'static str,
    /// Child → parent, as the server tells of them.
    parents: RefCell<BTreeMap<String, String>>,
}

impl OfChildren {
    pub(super) fn taking(kind: &'static str) -> Self {
        Self { kind, parents: RefCell::default() }
    }
}

impl Routing for OfChildren {
    fn sessions_of(&self, event: &Value, _ours: &[&str]) -> Vec<String> {
        let session = session_of(event).map(str::to_owned);
        let mut parents = self.parents.borrow_mut();
        if let (Some(child), Some(parent)) = (&session, event["properties"]["info"]["parentID"].as_str())
            && event["type"] == "session.created"
        {
            parents.insert(child.clone(), parent.to_owned());
        }
        let is_taken = event["type"] == self.kind;
        let parent = session.as_ref().filter(|_| is_taken).and_then(|session| parents.get(session));
        parent.cloned().or(session).into_iter().collect()
    }
}
