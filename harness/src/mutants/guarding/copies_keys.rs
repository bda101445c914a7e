//! Keys at hand for the agent.

use crate::mutants::Mutant;
use crate::reference::strategy::{Keeping, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "copies_keys",
    about: "Puts a copy of the keys into the workspace.",
    strategies: || Strategies { credentials: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Keeping for Broken {
    fn copies(&self) -> bool {
        true
    }
}
