//! A yes of the person is sent, whatever it is about.

use crate::mutants::Mutant;
use crate::reference::strategy::{Guarding, Strategies};
use fixtures::paths::Policy;

pub(super) const MUTANT: Mutant = Mutant {
    name: "believes_yes",
    about: "Has a guard and does not ask it before a yes is sent (the servers ask under the name of the link).",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn yes_is_held_by(&self) -> Option<Policy> {
        None
    }
}
