//! Asks in the task itself what is to be asked aside.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_aside_in_the_task",
    about: "Asks in the task itself what is to be asked aside.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn has_own_aside(&self) -> bool {
        false
    }
}
