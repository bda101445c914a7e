//! Leaves a task where it has gone back to when the edited message is not accepted.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "edits_by_halves",
    about: "Leaves a task where it has gone back to when the edited message is not accepted.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn takes_back(&self) -> bool {
        false
    }
}
