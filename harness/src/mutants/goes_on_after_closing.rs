//! An error is a line on the screen, and the show goes on.

use super::Mutant;
use crate::reference::strategy::{GapPolicy, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "goes_on_after_closing",
    about: "Says that a task can't go on, and follows its events all the same.",
    strategies: || Strategies { gap: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl GapPolicy for Broken {
    fn follows_stale(&self) -> bool {
        true
    }
}
