//! Shows in each task what the agent of any has changed.

use super::Mutant;
use crate::reference::strategy::showing::session_of;
use crate::reference::strategy::{Routing, Strategies};
use serde_json::Value;

pub(super) const MUTANT: Mutant = Mutant {
    name: "shows_changes_of_others",
    about: "Shows in each task what the agent of any has changed.",
    strategies: || Strategies { routing: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Routing for Broken {
    fn sessions_of(&self, event: &Value, ours: &[&str]) -> Vec<String> {
        match event["type"] == "session.diff" {
            true => ours.iter().map(|session| (*session).to_owned()).collect(),
            false => session_of(event).map(str::to_owned).into_iter().collect(),
        }
    }
}
