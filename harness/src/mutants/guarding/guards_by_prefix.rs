//! A path is inside when its text begins as the workspace's does.

use crate::mutants::Mutant;
use crate::reference::strategy::{Guarding, Strategies};
use fixtures::paths::realpath::Links;
use fixtures::paths::{Policy, posix};

pub(super) const MUTANT: Mutant = Mutant {
    name: "guards_by_prefix",
    about: "Resolves `.` and `..` and compares the beginnings of two texts, as seed 001 has it: a neighbour whose name begins alike is inside.",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn lets(&self, _policy: Policy, roots: &[String], path: &str, _disk: &dyn Links) -> bool {
        let Some(target) = posix::absolute(roots, path) else { return false };
        let target = format!("/{}", posix::folded(&target).join("/"));
        roots.iter().any(|root| target.starts_with(root.as_str()))
    }
}
