//! Keeps the state of so many conversations, as a small cache does, and lets go those that it has used the least.

use super::Mutant;
use crate::reference::strategy::showing::session_of;
use crate::reference::strategy::{Routing, Strategies};
use serde_json::Value;

pub(super) const MUTANT: Mutant = Mutant {
    name: "knows_eight",
    about: "Knows eight conversations at most; what the server tells of any other one is lost.",
    strategies: || Strategies { routing: Box::new(Broken), ..Strategies::default() },
};

const KNOWN: usize = 8;

struct Broken;

impl Routing for Broken {
    fn sessions_of(&self, event: &Value, ours: &[&str]) -> Vec<String> {
        let known = &ours[..ours.len().min(KNOWN)];
        let is_forgotten = |session: &&str| !known.contains(session) && ours.contains(session);
        session_of(event).filter(|session| !is_forgotten(session)).map(str::to_owned).into_iter().collect()
    }
}
