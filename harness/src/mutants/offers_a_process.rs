//! Offers to end a process whose number nobody has told it.

use super::Mutant;
use crate::protocol::Affordance;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "offers_a_process",
    about: "Offers to end a process whose number nobody has told it.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn offers(&self, mut usable: Vec<Affordance>) -> Vec<Affordance> {
        usable.push(Affordance::Process);
        usable
    }
}
