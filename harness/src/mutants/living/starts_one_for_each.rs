//! Starts a server for each task.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "starts_one_for_each",
    about: "Starts a server for each task.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn one_for_each_task(&self) -> bool {
        true
    }
}
