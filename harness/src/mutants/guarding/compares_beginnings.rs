//! Links are followed, and then two texts are compared letter by letter.

use crate::mutants::Mutant;
use crate::reference::strategy::{Careful, Guarding, Strategies};
use fixtures::paths::Policy;
use fixtures::paths::realpath::Links;
use std::fs::canonicalize;
use std::path::Path;

pub(super) const MUTANT: Mutant = Mutant {
    name: "compares_beginnings",
    about: "Follows links and compares the beginnings of two texts: a neighbour whose name begins alike is inside.",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn lets(&self, policy: Policy, roots: &[String], path: &str, disk: &dyn Links) -> bool {
        let is_alike = |root: &String| {
            let (root, target) = (canonicalize(root), canonicalize(Path::new(root).join(path)));
            let (Ok(root), Ok(target)) = (root, target) else { return false };
            target.to_string_lossy().starts_with(&*root.to_string_lossy())
        };
        Careful.lets(policy, roots, path, disk) || policy == Policy::Realpath && roots.iter().any(is_alike)
    }
}
