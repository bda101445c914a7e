//! An agent that helps has a list of its own.

use super::Mutant;
use super::children::OfChildren;
use crate::reference::strategy::Strategies;

pub(super) const MUTANT: Mutant = Mutant {
    name: "shows_todos_of_a_child",
    about: "Shows the list of things to do of a subtask's session in place of the task's own.",
    strategies: || Strategies {
        routing: Box::new(OfChildren::taking("todo.updated")),
        ..Strategies::default()
    },
};
