//! What runs by itself is not dangerous.

use super::Mutant;
use crate::reference::strategy::{Strategies, UnknownEvents};

pub(super) const MUTANT: Mutant = Mutant {
    name: "minds_dialogs_alone",
    about: "Ends a task in an error for an unknown event while the person is asked, and not while a tool runs.",
    strategies: || Strategies { unknown: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl UnknownEvents for Broken {
    fn minds_tools(&self) -> bool {
        false
    }
}
