//! One stream, one mistake.

use super::Mutant;
use crate::reference::strategy::{Strategies, UnknownEvents};

pub(super) const MUTANT: Mutant = Mutant {
    name: "closes_all",
    about: "Ends every task in an error when something unknown comes in the middle of one.",
    strategies: || Strategies { unknown: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl UnknownEvents for Broken {
    fn closed(&self, _concerned: String, _delicate: Vec<String>, all: Vec<String>) -> Vec<String> {
        all
    }
}
