//! The counter of reconnects counts what it likes.

use super::Mutant;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "counts_wrong",
    about: "Counts each reconnect twice.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn signal(&self, name: &str, value: u64) -> Option<u64> {
        Some(if name.ends_with("reconnect_count") { value * 2 } else { value })
    }
}
