//! What a session has gone back from stands in the session, and the list of its messages has it still.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "loads_what_was_taken_back",
    about: "Shows again after a gap what the task has gone back from.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn loads_reverted(&self) -> bool {
        false
    }
}
