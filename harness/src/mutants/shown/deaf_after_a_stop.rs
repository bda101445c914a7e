//! What was stopped is never listened to again.

use crate::mutants::Mutant;
use crate::protocol::{Outcome, Update};
use crate::reference::strategy::{Strategies, Telling};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

pub(super) const MUTANT: Mutant = Mutant {
    name: "deaf_after_a_stop",
    about: "Shows nothing of the turns that come after a stop in the same task.",
    strategies: || Strategies { telling: Box::<Broken>::default(), ..Strategies::default() },
};

/// Tasks whose turn has come to such an end.
#[derive(Default)]
struct Broken(Mutex<BTreeSet<String>>);

impl Telling for Broken {
    fn shown(&self, update: Update) -> Vec<Update> {
        let mut over = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let task = update.task_id().unwrap_or_default().to_owned();
        if over.contains(&task) {
            return Vec::new();
        }
        if matches!(update, Update::Terminal { outcome: Outcome::Aborted, .. }) {
            over.insert(task);
        }
        vec![update]
    }
}
