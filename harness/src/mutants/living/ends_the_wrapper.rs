//! What was started is ended, and not what that has started.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "ends_the_wrapper",
    about: "Kills the program that it has started, which is a wrapper, and leaves the server behind (Kilo-Org/kilocode#14387).",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn ends_whole_group(&self) -> bool {
        false
    }
}
