//! Puts four spaces in the place of each tab.

use super::Mutant;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "tidies_code",
    about: "Puts four spaces in the place of each tab.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn words(&self, text: String) -> String {
        text.replace('\t', "    ")
    }
}
