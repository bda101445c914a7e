//! What can't be loaded is not mentioned.

use super::Mutant;
use crate::reference::strategy::{GapPolicy, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "fails_silently",
    about: "Shows the old conversation when the new one can't be loaded, and says nothing.",
    strategies: || Strategies { gap: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl GapPolicy for Broken {
    fn errors(&self) -> usize {
        0
    }
}
