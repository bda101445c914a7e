//! What is asked beside a task is asked in the folder of the window.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_aside_elsewhere",
    about: "Asks aside in the folder of the window, where the agent sees other files than the task's.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn aside_directory<'a>(&self, _own: &'a str, main: &'a str) -> &'a str {
        main
    }
}
