//! Asks for the kinds of leave that it has a dialog for, and drops all others.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "knows_its_kinds",
    about: "Asks for the kinds of leave that it has a dialog for, and drops all others.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn asks_for_kind(&self, kind: &str) -> bool {
        ["bash", "edit", "external_directory", "read", "webfetch"].contains(&kind)
    }
}
