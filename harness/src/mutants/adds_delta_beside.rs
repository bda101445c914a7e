//! A release tells the whole and what is new in it; both are added.

use super::Mutant;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "adds_delta_beside",
    about: "Adds the delta that stands beside the whole text (relay-ide PR #297).",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn adds_delta_beside(&self) -> bool {
        true
    }
}
