//! Sends the suggestion as soon as the question is there.

use super::Mutant;
use crate::protocol::FollowUp;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "suggests_at_once",
    about: "Sends the suggestion as soon as the question is there.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn suggests_after_ms(&self, _countdown: FollowUp) -> Option<u64> {
        Some(0)
    }
}
