//! What was stopped is never listened to again.

use crate::mutants::Mutant;
use crate::protocol::{Outcome, Update};
use crate::reference::strategy::{Strategies, Telling};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

pub(super) const MUTANT: Mutant = Mutant {
    name: "deaf_after_a_stop",
    about: "Shows nothing of the turns that come after a stop in the same task.",
    strategies: || Strategies { telling: Box::new(DeafAfter::an(Outcome::Aborted)), ..Strategies::default() },
};

/// Shows nothing more of a task in which a turn has ended so.
pub(super) struct DeafAfter {
    end: Outcome,
    over: Mutex<BTreeSet<String>>,
}

impl DeafAfter {
    pub(super) fn an(end: Outcome) -> Self {
        Self { end, over: Mutex::default() }
    }
}

impl Telling for DeafAfter {
    fn shown(&self, update: Update) -> Vec<Update> {
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        let task = update.task_id().unwrap_or_default().to_owned();
        if over.contains(&task) {
            return Vec::new();
        }
        if matches!(&update, Update::Terminal { outcome, .. } if *outcome == self.end) {
            over.insert(task);
        }
        vec![update]
    }
}
