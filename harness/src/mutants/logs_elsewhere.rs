//! A line of the lowest level names the folder that the program stands in, and not the one that it is about.

use super::Mutant;
use crate::protocol::{LogLevel, LogLine};
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "logs_elsewhere",
    about: "Logs debug lines that name another folder than the one that they are about.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn line(&self, line: LogLine) -> LogLine {
        if line.level != LogLevel::Debug {
            return line;
        }
        LogLine { directory: line.directory.map(|_| "/".to_owned()), ..line }
    }
}
