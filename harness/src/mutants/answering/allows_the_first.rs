//! Answers the first request for leave when all are allowed, and leaves the others to themselves.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "allows_the_first",
    about: "Answers the first request for leave when all are allowed, and leaves the others to themselves.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn answers_each(&self) -> bool {
        false
    }
}
