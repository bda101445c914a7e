//! Lists are merged, so that nothing of them is ever lost.

use crate::mutants::Mutant;
use crate::protocol::{TodoItem, Update};
use crate::reference::strategy::{Strategies, Telling};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

pub(super) const MUTANT: Mutant = Mutant {
    name: "piles_up_todos",
    about: "Adds what is new in a list of things to do to the old list, and takes nothing out of it.",
    strategies: || Strategies { telling: Box::<Broken>::default(), ..Strategies::default() },
};

#[derive(Default)]
struct Broken {
    /// Task → all that was ever to be done.
    lists: Mutex<BTreeMap<String, Vec<TodoItem>>>,
}

impl Telling for Broken {
    fn shown(&self, mut update: Update) -> Vec<Update> {
        let (task_id, todos) = match &mut update {
            Update::Todo { task_id, todos } => (task_id, todos),
            Update::Timeline { task_id, view } => (task_id, &mut view.todos),
            _ => return vec![update],
        };
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let list = lists.entry(task_id.clone()).or_default();
        for todo in todos.drain(..) {
            match list.iter_mut().find(|known| known.content == todo.content) {
                Some(known) => *known = todo,
                None => list.push(todo),
            }
        }
        todos.clone_from(list);
        vec![update]
    }
}
