//! Leaves empty what is not known of a command.

use super::Mutant;
use crate::protocol::Process;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "leaves_process_empty",
    about: "Leaves empty what is not known of a command.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn process(&self) -> Option<Process> {
        None
    }
}
