//! A line says what happened and not where.

use super::Mutant;
use crate::protocol::LogLine;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "logs_bare_lines",
    about: "Logs lines that name neither folder nor port.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn line(&self, line: LogLine) -> LogLine {
        LogLine { directory: None, port: None, ..line }
    }
}
