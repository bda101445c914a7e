//! What is not there yet is judged by its text, and may lie in a folder that is a link.

use crate::mutants::Mutant;
use crate::reference::strategy::{Careful, Guarding, Strategies};
use fixtures::paths::Policy;
use fixtures::paths::realpath::Links;
use std::path::Path;

pub(super) const MUTANT: Mutant = Mutant {
    name: "believes_in_new_files",
    about: "Follows the links of files that are there alone, so a new file may be made through a linked folder.",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn lets(&self, policy: Policy, roots: &[String], path: &str, disk: &dyn Links) -> bool {
        let is_there = roots.iter().any(|root| Path::new(root).join(path).exists());
        let policy = if policy == Policy::Realpath && !is_there { Policy::Lexical } else { policy };
        Careful.lets(policy, roots, path, disk)
    }
}
