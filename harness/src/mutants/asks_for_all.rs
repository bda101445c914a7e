//! The servers list what all sessions of a folder ask; who does not look whose it is asks it in each conversation.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_for_all",
    about: "After a refresh each task asks what the server lists, whichever session asks it.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn asks_for_all(&self) -> bool {
        true
    }
}
