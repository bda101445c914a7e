//! What the person had stopped is kept with the question, and the question is read anew.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "forgets_holds_in_a_gap",
    about: "After a reconnect each rule and each countdown begins anew, also those that the person had stopped.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn remembers_holds(&self) -> bool {
        false
    }
}
