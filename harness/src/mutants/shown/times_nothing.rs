//! The clock is started when the first words are there.

use crate::mutants::Mutant;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "times_nothing",
    about: "Tells that the first words came at once, whenever they came.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn signal(&self, name: &str, value: u64) -> Option<u64> {
        Some(if name.ends_with("ttft_ms") { 0 } else { value })
    }
}
