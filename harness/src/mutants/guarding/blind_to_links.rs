//! A path is judged by its text, where its links had to be followed.

use crate::mutants::Mutant;
use crate::reference::strategy::{Careful, Guarding, Strategies};
use fixtures::paths::Policy;
use fixtures::paths::realpath::Links;

pub(super) const MUTANT: Mutant = Mutant {
    name: "blind_to_links",
    about: "Follows no link: what is inside on paper is inside (decision 4, after its time).",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn lets(&self, policy: Policy, roots: &[String], path: &str, disk: &dyn Links) -> bool {
        let policy = if policy == Policy::Realpath { Policy::Lexical } else { policy };
        Careful.lets(policy, roots, path, disk)
    }
}
