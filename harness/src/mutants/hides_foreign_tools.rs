//! Has rows for the calls of the tools that it knows, and for no others.

use super::Mutant;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "hides_foreign_tools",
    about: "Has rows for the calls of the tools that it knows, and for no others.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn shows_tool(&self, name: &str) -> bool {
        ["bash", "edit", "read", "write", "glob", "grep", "task", "todowrite", "webfetch"].contains(&name)
    }
}
