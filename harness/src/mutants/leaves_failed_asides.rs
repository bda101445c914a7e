//! Cleans up where all went well.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "leaves_failed_asides",
    about: "Leaves the session behind in which something was asked aside when nobody has answered.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn deletes_aside(&self, was_answered: bool) -> bool {
        was_answered
    }
}
