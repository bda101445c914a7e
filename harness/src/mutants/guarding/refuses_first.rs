//! What leads out is refused before the rest is allowed, and the server takes a no for a no to all that is open.

use crate::mutants::Mutant;
use crate::reference::strategy::{Guarding, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "refuses_first",
    about: "Refuses what leads out before it allows the rest, which the server then takes for refused, too.",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn refuses_last(&self) -> bool {
        false
    }
}
