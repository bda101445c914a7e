//! Tools are off, and the dialog comes all the same.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_without_tools",
    about: "Asks for leave although tools are off.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn asks_without_tools(&self) -> bool {
        true
    }
}
