//! Each part that is missing is an error of its own.

use super::Mutant;
use crate::reference::strategy::{GapPolicy, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "fails_twice",
    about: "Shows two errors for one conversation that can't be loaded.",
    strategies: || Strategies { gap: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl GapPolicy for Broken {
    fn errors(&self) -> usize {
        2
    }
}
