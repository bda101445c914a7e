//! Asks for every kind of leave that it has no dialog for in the words of an edit.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "calls_all_edits",
    about: "Asks for every kind of leave that it has no dialog for in the words of an edit.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn kind_told(&self, kind: String) -> String {
        if ["bash", "read", "webfetch"].contains(&kind.as_str()) { kind } else { "edit".to_owned() }
    }
}
