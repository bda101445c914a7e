//! A piece is added to a text wherever it comes.

use super::Mutant;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "adds_behind_the_end",
    about: "Adds a piece of a text that is told late to the whole text that came before it.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn adds_behind_the_end(&self) -> bool {
        true
    }
}
