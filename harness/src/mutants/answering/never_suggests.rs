//! Counts down and sends nothing in the end.

use super::Mutant;
use crate::protocol::FollowUp;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "never_suggests",
    about: "Counts down and sends nothing in the end.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn suggests_after_ms(&self, _countdown: FollowUp) -> Option<u64> {
        None
    }
}
