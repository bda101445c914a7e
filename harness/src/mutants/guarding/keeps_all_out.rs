//! A guard that is always right when it says no.

use crate::mutants::Mutant;
use crate::reference::strategy::{Guarding, Strategies};
use fixtures::paths::Policy;
use fixtures::paths::realpath::Links;

pub(super) const MUTANT: Mutant = Mutant {
    name: "keeps_all_out",
    about: "Keeps every path out, so that nothing can go wrong, and nothing can be done.",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn lets(&self, _policy: Policy, _roots: &[String], _path: &str, _disk: &dyn Links) -> bool {
        false
    }
}
