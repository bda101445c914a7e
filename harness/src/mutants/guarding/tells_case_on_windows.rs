//! `C:\\Work` and `c:\\work` are taken for two folders.

use crate::mutants::Mutant;
use crate::reference::strategy::{Careful, Guarding, Strategies};
use fixtures::paths::Policy;
use fixtures::paths::realpath::Links;

pub(super) const MUTANT: Mutant = Mutant {
    name: "tells_case_on_windows",
    about: "Compares names letter by letter where Windows does not tell capitals from small ones.",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn lets(&self, policy: Policy, roots: &[String], path: &str, disk: &dyn Links) -> bool {
        let begins_alike = |root: &String| path.starts_with(root.as_str()) || !path.contains(':');
        let is_windows = policy == Policy::Windows;
        Careful.lets(policy, roots, path, disk) && (!is_windows || roots.iter().any(begins_alike))
    }
}
