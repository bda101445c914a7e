//! The server's list of states names who is at work; who is not named stays as he was.

use super::Mutant;
use crate::reference::strategy::{Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "absent_stays_busy",
    about: "Shows a spinner for ever after a crash, as the state was in the server's memory (Kilo PR #7777).",
    strategies: || Strategies { turns: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Turns for Broken {
    fn absent_is_idle(&self) -> bool {
        false
    }
}
