//! Does not read after a gap what the agent has changed.

use super::Mutant;
use crate::reference::strategy::{Changes, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "keeps_old_changes",
    about: "Does not read after a gap what the agent has changed.",
    strategies: || Strategies { changes: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Changes for Broken {
    fn reads_after_gap(&self) -> bool {
        false
    }
}
