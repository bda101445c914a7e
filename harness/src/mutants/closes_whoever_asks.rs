//! What nobody understands is everybody's who is in the middle of something.

use super::Mutant;
use crate::reference::strategy::{Strategies, UnknownEvents};

pub(super) const MUTANT: Mutant = Mutant {
    name: "closes_whoever_asks",
    about: "Ends each task that asks or runs a tool in an error, whichever of them an unknown event is about.",
    strategies: || Strategies { unknown: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl UnknownEvents for Broken {
    fn closed(&self, _concerned: String, delicate: Vec<String>, _all: Vec<String>) -> Vec<String> {
        delicate
    }
}
