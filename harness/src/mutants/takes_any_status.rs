//! Whether the agent works is kept once for all sessions.

use super::Mutant;
use crate::reference::strategy::{Routing, Strategies, showing::session_of};
use serde_json::Value;

pub(super) const MUTANT: Mutant = Mutant {
    name: "takes_any_status",
    about: "Takes the status of any session for the status of its tasks.",
    strategies: || Strategies { routing: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Routing for Broken {
    fn sessions_of(&self, event: &Value, ours: &[&str]) -> Vec<String> {
        if event["type"] == "session.status" {
            return ours.iter().map(|&ours| ours.to_owned()).collect();
        }
        session_of(event).map(str::to_owned).into_iter().collect()
    }
}
