//! The guard stands where the person answers, and nowhere else.

use crate::mutants::Mutant;
use crate::reference::strategy::{Guarding, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "rules_are_blind",
    about: "Holds the person's yes against the disk, and gives the yes of a rule as it is.",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn holds_rules(&self) -> bool {
        false
    }
}
