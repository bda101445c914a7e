//! Its filter compares session ids only where there is one, so an event without a session passes it everywhere.

use super::Mutant;
use crate::reference::strategy::{Careful, Routing, Strategies};
use serde_json::Value;

pub(super) const MUTANT: Mutant = Mutant {
    name: "sessionless_to_all",
    about: "Gives an event that names no session to every task, as a filter does that only drops other sessions \
            (t3code PR #1758).",
    strategies: || Strategies { routing: Box::new(OrToAll), ..Strategies::default() },
};

struct OrToAll;

impl Routing for OrToAll {
    fn sessions_of(&self, event: &Value, ours: &[&str]) -> Vec<String> {
        let named = Careful.sessions_of(event, ours);
        if named.is_empty() { ours.iter().map(|&session| session.to_owned()).collect() } else { named }
    }

    fn needs_session(&self) -> bool {
        false
    }
}
