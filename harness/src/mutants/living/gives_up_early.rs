//! One crash too many is the first.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "gives_up_early",
    about: "Gives a server up that has crashed twice.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn most_crashes(&self) -> usize {
        1
    }
}
