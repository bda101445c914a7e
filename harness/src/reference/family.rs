//! Which session was created by whose agent: what it asks is asked in the name of the first one.

use std::collections::BTreeMap;

/// Sessions, each with the one whose agent has created it.
#[derive(Debug, Default)]
pub(super) struct Family(BTreeMap<String, String>);

impl Family {
    /// Notes who has created a session.
    pub(super) fn add(&mut self, child: String, parent: String) {
        self.0.insert(child, parent);
    }

    /// The session itself, who has created it, who has created that one, and so on. A circle ends where it closes.
    pub(super) fn line_of<'a>(&'a self, session: &'a str) -> Vec<&'a str> {
        let mut line = vec![session];
        while let Some(parent) = line.last().and_then(|last| self.0.get(*last)) {
            if line.contains(&parent.as_str()) {
                break;
            }
            line.push(parent);
        }
        line
    }
}
