//! A process that has ended is waited for.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "deaf_to_the_end",
    about: "Waits for the ready line of a server that has ended already, and says in the end that it was silent.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn hears_end(&self) -> bool {
        false
    }
}
