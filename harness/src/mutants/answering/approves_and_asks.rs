//! Asks the person beside the rule that has answered already.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "approves_and_asks",
    about: "Asks the person beside the rule that has answered already.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn asks_beside(&self) -> bool {
        true
    }
}
