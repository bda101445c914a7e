//! Stop hides the turn; nobody tells the server.

use super::Mutant;
use crate::reference::strategy::{Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "pretends_to_stop",
    about: "Closes the turn on the screen and lets the server work on.",
    strategies: || Strategies { turns: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Turns for Broken {
    fn sends_abort(&self) -> bool {
        false
    }

    fn abort_ends_at_once(&self) -> bool {
        true
    }
}
