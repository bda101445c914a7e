//! A guard that is not asked.

use crate::mutants::Mutant;
use crate::reference::strategy::{Guarding, Strategies};
use fixtures::paths::Policy;
use fixtures::paths::realpath::Links;

pub(super) const MUTANT: Mutant = Mutant {
    name: "lets_all_in",
    about: "Lets every path in, so that nothing is ever in an agent's way.",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn lets(&self, _policy: Policy, _roots: &[String], _path: &str, _disk: &dyn Links) -> bool {
        true
    }
}
