//! A new prompt is a new beginning, of the list of things to do as well.

use crate::mutants::Mutant;
use crate::protocol::{TaskState, Update};
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "clears_todos_at_prompts",
    about: "Empties the list of things to do with each prompt, though the agent still has it.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn shown(&self, update: Update) -> Vec<Update> {
        let begins = match &update {
            Update::Status { task_id, state: TaskState::Busy } => Some(task_id.clone()),
            _ => None,
        };
        let cleared = begins.map(|task_id| Update::Todo { task_id, todos: Vec::new() });
        std::iter::once(update).chain(cleared).collect()
    }
}
