//! After a gap it fetches the conversation that the person looks at, which is the one that was opened last.

use super::Mutant;
use crate::reference::strategy::{GapPolicy, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "fetches_the_last",
    about: "After a reconnect it fetches one task anew, the one in view, and the others stay stale.",
    strategies: || Strategies { gap: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl GapPolicy for Broken {
    fn fetched(&self, tasks: Vec<String>) -> Vec<String> {
        tasks.into_iter().next_back().into_iter().collect()
    }
}
