//! The countdown of a rule is a timer that nobody ends.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "rules_outlive_a_stop",
    about: "Answers in the person's place when its time has come, though they have stopped the agent.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn stop_calls_off(&self) -> bool {
        false
    }
}
