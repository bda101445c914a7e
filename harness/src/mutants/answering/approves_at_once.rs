//! Answers before the person had the time that the rule gives.

use super::Mutant;
use crate::protocol::AutoApprove;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "approves_at_once",
    about: "Answers before the person had the time that the rule gives.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn waits_ms(&self, rule: &AutoApprove) -> u64 {
        rule.delay_ms.min(1)
    }
}
