//! Only an answer of its own takes a question away.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "deaf_to_others",
    about: "Keeps a question that another window has answered (Kilo PR #9450).",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn hears_others(&self) -> bool {
        false
    }
}
