//! A line about an event is written where nobody knows yet whose it is.

use crate::mutants::Mutant;
use crate::protocol::LogLine;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "logs_without_task",
    about: "Logs what concerns a task without its name and its session.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn line(&self, line: LogLine) -> LogLine {
        LogLine { task_id: None, session_id: None, ..line }
    }
}
