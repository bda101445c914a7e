//! Who has said a message is not waited for.

use super::Mutant;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "takes_unknown_for_agents",
    about: "Takes a part of a message that it was told nothing of for the agent's, and shows the person's own words so.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn waits_for_message(&self) -> bool {
        false
    }
}
