//! A command that was started is taken for done.

use crate::mutants::Mutant;
use crate::protocol::{ToolState, Update};
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "commands_done_at_once",
    about: "Shows a command as done as soon as it runs.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn shown(&self, mut update: Update) -> Vec<Update> {
        if let Update::ToolState { tool, state, .. } = &mut update
            && tool == "bash"
            && *state == ToolState::Running
        {
            *state = ToolState::Done;
        }
        vec![update]
    }
}
