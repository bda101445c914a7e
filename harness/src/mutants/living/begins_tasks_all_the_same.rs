//! That the server is not well is shown, and the server that is there is used.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "begins_tasks_all_the_same",
    about: "Tells that the server is not well, keeps it, and begins tasks with it.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn lets_go_of_unwell(&self) -> bool {
        false
    }
}
