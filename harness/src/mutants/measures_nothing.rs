//! The time to the first word is never told.

use super::Mutant;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "measures_nothing",
    about: "Never says how long the person waited for the first words.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn signal(&self, name: &str, value: u64) -> Option<u64> {
        Some(value).filter(|_| !name.ends_with("ttft_ms"))
    }
}
