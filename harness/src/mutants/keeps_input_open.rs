//! Lets the person write while leave is asked for.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "keeps_input_open",
    about: "Lets the person write while leave is asked for.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn closes_input(&self) -> bool {
        false
    }
}
