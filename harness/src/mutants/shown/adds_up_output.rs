//! Each update of a running command tells all that it has printed; this one takes it for what is new.

use crate::mutants::Mutant;
use crate::protocol::{ToolState, Update};
use crate::reference::strategy::{Strategies, Telling};
use std::sync::{Mutex, PoisonError};

pub(super) const MUTANT: Mutant = Mutant {
    name: "adds_up_output",
    about: "Adds what a command has printed to what it had printed, again and again, while it runs.",
    strategies: || Strategies { telling: Box::<Broken>::default(), ..Strategies::default() },
};

/// What was shown of the command that runs.
#[derive(Default)]
struct Broken(Mutex<String>);

impl Telling for Broken {
    fn shown(&self, mut update: Update) -> Vec<Update> {
        if let Update::ToolState { state, output: Some(output), .. } = &mut update {
            let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match state {
                ToolState::Running => {
                    shown.push_str(output);
                    output.clone_from(&shown);
                }
                _ => shown.clear(),
            }
        }
        vec![update]
    }
}
