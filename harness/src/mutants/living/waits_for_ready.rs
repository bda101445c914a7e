//! Nothing is ever too long.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "waits_for_ready",
    about: "Waits for a server that never says that it listens.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn start_limit_ms(&self, _time_scale: f64) -> Option<u64> {
        None
    }
}
