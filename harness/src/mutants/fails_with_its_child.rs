//! A subtask that fails is no end of the task, whose agent goes on with that.

use super::Mutant;
use super::children::OfChildren;
use crate::reference::strategy::{Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "fails_with_its_child",
    about: "Takes an error of a subtask's session for one that ends the task's own turn.",
    strategies: || Strategies {
        routing: Box::new(OfChildren::taking("session.error")),
        turns: Box::new(Broken),
        ..Strategies::default()
    },
};

struct Broken;

impl Turns for Broken {
    fn error_ends(&self) -> bool {
        true
    }
}
