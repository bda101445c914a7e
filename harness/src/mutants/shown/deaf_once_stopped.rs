//! What comes after a stop is thrown away, so that no late word is shown; the call that was stopped is at work for ever.

use crate::mutants::Mutant;
use crate::protocol::{ToolState, Update};
use crate::reference::strategy::{Strategies, Telling};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

pub(super) const MUTANT: Mutant = Mutant {
    name: "deaf_once_stopped",
    about: "Shows nothing more of a call that was stopped.",
    strategies: || Strategies { telling: Box::<Broken>::default(), ..Strategies::default() },
};

/// Call → what was last told of it by itself.
#[derive(Default)]
struct Broken(Mutex<BTreeMap<String, ToolState>>);

impl Telling for Broken {
    fn shown(&self, mut update: Update) -> Vec<Update> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut update {
            Update::ToolState { tool_id, state, .. } => drop(told.insert(tool_id.clone(), *state)),
            Update::Timeline { view, .. } => {
                for item in &mut view.items {
                    item.state = told.get(&item.part_id).copied().or(item.state);
                }
            }
            _ => {}
        }
        vec![update]
    }
}
