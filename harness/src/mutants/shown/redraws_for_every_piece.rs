//! A state store draws the whole conversation for each change.

use crate::mutants::Mutant;
use crate::protocol::{Screen, Update};
use crate::reference::strategy::{Strategies, Telling};
use std::sync::{Mutex, PoisonError};

pub(super) const MUTANT: Mutant = Mutant {
    name: "redraws_for_every_piece",
    about: "Draws a task anew for each piece of text, however fast they come.",
    strategies: || Strategies { telling: Box::<Broken>::default(), ..Strategies::default() },
};

/// What is on the screen.
#[derive(Default)]
struct Broken(Mutex<Screen>);

impl Telling for Broken {
    fn publish_every_ms(&self) -> u64 {
        0
    }

    fn shown(&self, update: Update) -> Vec<Update> {
        let mut screen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        screen.apply(&update);
        let view = update.task_id().and_then(|task| screen.tasks.get(task));
        match (&update, view) {
            (Update::AssistantDelta { task_id, .. }, Some(view)) => {
                vec![Update::Timeline { task_id: task_id.clone(), view: view.clone() }]
            }
            _ => vec![update],
        }
    }
}
