//! A list of names, each with a green light.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "calls_all_connected",
    about: "Calls each server of tools connected that the server lists, whatever it says of it.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn tool_server_state(&self, _said: String) -> String {
        "connected".to_owned()
    }
}
