//! To find mistakes later, lines say what was on the screen.

use crate::mutants::Mutant;
use crate::protocol::{LogLine, Update};
use crate::reference::strategy::{Strategies, Telling};
use std::sync::{Mutex, PoisonError};

pub(super) const MUTANT: Mutant = Mutant {
    name: "logs_what_is_said",
    about: "Logs what the agent said last.",
    strategies: || Strategies { telling: Box::<Broken>::default(), ..Strategies::default() },
};

/// What the agent has said.
#[derive(Default)]
struct Broken(Mutex<String>);

impl Telling for Broken {
    fn shown(&self, update: Update) -> Vec<Update> {
        if let Update::AssistantDelta { delta, .. } = &update {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(delta);
        }
        vec![update]
    }

    fn line(&self, line: LogLine) -> LogLine {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        LogLine { text: format!("{} ({said})", line.text), ..line }
    }
}
