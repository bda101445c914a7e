//! Who has stopped the agent is asked nothing any more; the server still waits.

use crate::mutants::Mutant;
use crate::protocol::{Outcome, Update};
use crate::reference::strategy::{Strategies, Telling};
use std::sync::{Mutex, PoisonError};

pub(super) const MUTANT: Mutant = Mutant {
    name: "closes_what_was_asked",
    about: "Closes what is asked when the turn was stopped.",
    strategies: || Strategies { telling: Box::<Broken>::default(), ..Strategies::default() },
};

/// What is asked.
#[derive(Default)]
struct Broken(Mutex<Vec<String>>);

impl Telling for Broken {
    fn shown(&self, update: Update) -> Vec<Update> {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &update {
            Update::PermissionRequest { permission_id, .. } => asked.push(permission_id.clone()),
            Update::PermissionResolved { permission_id, .. } => asked.retain(|id| id != permission_id),
            Update::Terminal { task_id, outcome: Outcome::Aborted, .. } => {
                let closed = asked.drain(..).map(|permission_id| Update::PermissionResolved {
                    task_id: task_id.clone(),
                    permission_id,
                });
                return closed.chain([update.clone()]).collect();
            }
            _ => {}
        }
        vec![update]
    }
}
