//! A start that takes a moment is a failure.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "impatient_start",
    about: "Gives up on a server that needs a second to get ready.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn start_limit_ms(&self, _time_scale: f64) -> Option<u64> {
        Some(900)
    }
}
