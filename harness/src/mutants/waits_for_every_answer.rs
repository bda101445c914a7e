//! A server that was asked answers.

use super::Mutant;
use crate::reference::strategy::{GapPolicy, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "waits_for_every_answer",
    about: "Waits for ever for what it reads after a gap.",
    strategies: || Strategies { gap: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl GapPolicy for Broken {
    fn waits_ms(&self, _limit_ms: u64) -> u64 {
        u64::MAX
    }
}
