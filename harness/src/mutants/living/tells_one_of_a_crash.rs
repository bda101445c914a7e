//! The task in front is all that there is.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "tells_one_of_a_crash",
    about: "Tells one task alone that the server has ended by itself.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn told(&self, mut tasks: Vec<String>) -> Vec<String> {
        tasks.truncate(1);
        tasks
    }
}
