//! Goes on showing what the server has gone back from.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "keeps_the_old_screen",
    about: "Goes on showing what the server has gone back from.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn hides_reverted(&self) -> bool {
        false
    }
}
