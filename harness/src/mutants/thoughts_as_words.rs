//! All that is text is said.

use super::Mutant;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "thoughts_as_words",
    about: "Shows the agent's thoughts as its answer.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn keeps_thoughts_apart(&self) -> bool {
        false
    }
}
