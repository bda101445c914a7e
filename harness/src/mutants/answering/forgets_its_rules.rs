//! Never acts by its rules, so that the agent waits for leave that it has.

use super::Mutant;
use crate::protocol::AutoApprove;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "forgets_its_rules",
    about: "Never acts by its rules, so that the agent waits for leave that it has.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn covers(&self, _rule: &AutoApprove, _kind: &str) -> bool {
        false
    }
}
