//! Leaves the sessions behind in which something was asked aside.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "leaves_asides",
    about: "Leaves the sessions behind in which something was asked aside.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn deletes_aside(&self, _was_answered: bool) -> bool {
        false
    }
}
