//! Says of every command that it ended well.

use super::Mutant;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "calls_all_ends_good",
    about: "Says of every command that it ended well.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn exit(&self, told: Option<i64>) -> Option<i64> {
        told.map(|_| 0)
    }
}
