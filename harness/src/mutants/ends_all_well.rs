//! Tells of every turn that it completed.

use super::Mutant;
use crate::protocol::Outcome;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "ends_all_well",
    about: "Tells of every turn that it completed.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn ended(&self, _outcome: Outcome) -> Outcome {
        Outcome::Completed
    }
}
