//! A server that was given up is used.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "begins_tasks_in_a_loop",
    about: "Begins a new task with a server that has crashed too often.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn begins_tasks_in_a_loop(&self) -> bool {
        true
    }
}
