//! Copies all of a task, whichever message is meant.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "copies_all",
    about: "Copies all of a task, whichever message is meant.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn forks_at_message(&self) -> bool {
        false
    }
}
