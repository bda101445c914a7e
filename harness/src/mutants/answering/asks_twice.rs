//! A question that is told again pops up again.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_twice",
    about: "Shows one question twice when its event comes twice.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn asks_twice(&self) -> bool {
        true
    }
}
