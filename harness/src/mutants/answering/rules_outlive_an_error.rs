//! A task that can't go on still has its timers.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "rules_outlive_an_error",
    about: "Answers in the person's place when its time has come, though the task has said that it can't go on.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn waits_when_closed(&self) -> bool {
        false
    }
}
