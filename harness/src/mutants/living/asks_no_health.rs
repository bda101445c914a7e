//! A server that listens is taken for one that works.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_no_health",
    about: "Uses a server as soon as it says that it listens.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn asks_health(&self) -> bool {
        false
    }
}
