//! A yes to all is many, and none is looked at.

use crate::mutants::Mutant;
use crate::reference::strategy::{Guarding, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "allows_all_blindly",
    about: "Holds a yes against the disk, and a yes to all that is asked not.",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn holds_all(&self) -> bool {
        false
    }
}
