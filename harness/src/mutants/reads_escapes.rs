//! `%2e` is read as a dot, which no tool does.

use super::Mutant;
use crate::reference::strategy::{Careful, Guarding, Strategies};
use fixtures::paths::Policy;
use fixtures::paths::realpath::Links;
use percent_encoding::percent_decode_str;

pub(super) const MUTANT: Mutant = Mutant {
    name: "reads_escapes",
    about: "Decodes a path before it is judged, so that names inside are kept out.",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn lets(&self, policy: Policy, roots: &[String], path: &str, disk: &dyn Links) -> bool {
        let path = percent_decode_str(path).decode_utf8_lossy();
        Careful.lets(policy, roots, &path, disk)
    }
}
