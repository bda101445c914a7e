//! A server that has crashed stays away.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "stays_down",
    about: "Tells that the server has crashed, and leaves it at that.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn starts_again(&self) -> bool {
        false
    }
}
