//! Says that the process of a command has the number 0, since nobody has told it.

use super::Mutant;
use crate::protocol::Process;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "says_process_zero",
    about: "Says that the process of a command has the number 0, since nobody has told it.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn process(&self) -> Option<Process> {
        Some(Process::Number(0))
    }
}
