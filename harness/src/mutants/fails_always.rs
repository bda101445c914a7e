//! Each thing that is new ends the task.

use super::Mutant;
use crate::reference::strategy::{Strategies, UnknownEvents};

pub(super) const MUTANT: Mutant = Mutant {
    name: "fails_always",
    about: "Ends a task in an error for any unknown event.",
    strategies: || Strategies { unknown: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl UnknownEvents for Broken {
    fn fails_always(&self) -> bool {
        true
    }
}
