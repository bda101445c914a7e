//! A delta of a part that is not there yet is dropped, and forgotten.

use super::Mutant;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "forgets_early_deltas",
    about: "Drops a delta that comes before its part, and goes on with the next one (opencode#26924).",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn remembers_lost(&self) -> bool {
        false
    }
}
