//! Offers to give leave while the agent has no tools to need it.

use super::Mutant;
use crate::protocol::Affordance;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "offers_leave_without_tools",
    about: "Offers to give leave while the agent has no tools to need it.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn offers(&self, mut usable: Vec<Affordance>) -> Vec<Affordance> {
        if !usable.contains(&Affordance::Permissions) {
            usable.push(Affordance::Permissions);
        }
        usable
    }
}
