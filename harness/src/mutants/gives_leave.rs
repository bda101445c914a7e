//! Nobody is asked: every permission is given.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "gives_leave",
    about: "Says yes by itself, as an approval rule does that matches everything.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn gives_leave(&self) -> bool {
        true
    }
}
