//! How the server is was known already.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "believes_the_first_answer",
    about: "Asks a server that was started again not how it is: it has the answer of the one before.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn asks_again(&self) -> bool {
        false
    }
}
