//! An error of the session ends whatever turn is open, if it is another one's.

use super::Mutant;
use crate::reference::strategy::{Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "any_error_ends",
    about: "Takes a late error of an aborted turn for the end of the next one (t3code PR #8813).",
    strategies: || Strategies { turns: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Turns for Broken {
    fn error_ends(&self) -> bool {
        true
    }
}
