//! A line of the lowest level says what happened and not where.

use super::Mutant;
use crate::protocol::{LogLevel, LogLine};
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "logs_bare_lines",
    about: "Logs debug lines that name neither folder nor port.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn line(&self, line: LogLine) -> LogLine {
        if line.level == LogLevel::Debug { LogLine { directory: None, port: None, ..line } } else { line }
    }
}
