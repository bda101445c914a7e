//! Gives leave for whatever is asked, when a rule for something is on.

use super::Mutant;
use crate::protocol::AutoApprove;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "approves_everything",
    about: "Gives leave for whatever is asked, when a rule for something is on.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn covers(&self, _rule: &AutoApprove, _kind: &str) -> bool {
        true
    }
}
