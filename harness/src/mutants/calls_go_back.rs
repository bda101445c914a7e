//! A late word about a call is the last word.

use super::Mutant;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "calls_go_back",
    about: "Shows a finished tool call as running again when an old event comes late.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn goes_back(&self) -> bool {
        true
    }
}
