//! What came is shown, and what did not is taken for empty.

use super::Mutant;
use crate::reference::strategy::{GapPolicy, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "shows_a_part",
    about: "Shows an empty conversation when it can't be loaded (seed of many \"my history is gone\" reports).",
    strategies: || Strategies { gap: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl GapPolicy for Broken {
    fn shows_a_part(&self) -> bool {
        true
    }
}
