//! The list of things to do is kept once for all tasks.

use super::Mutant;
use crate::reference::strategy::{Routing, Strategies, showing::session_of};
use serde_json::Value;

pub(super) const MUTANT: Mutant = Mutant {
    name: "shows_todos_of_all",
    about: "Shows the list of things to do of any session in its tasks.",
    strategies: || Strategies { routing: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Routing for Broken {
    fn sessions_of(&self, event: &Value, ours: &[&str]) -> Vec<String> {
        if event["type"] == "todo.updated" {
            return ours.iter().map(|&ours| ours.to_owned()).collect();
        }
        session_of(event).map(str::to_owned).into_iter().collect()
    }
}
