//! It asks about its prompt again and again, and never draws the conclusion that nothing will come.

use super::Mutant;
use crate::reference::strategy::{Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "infinitely_patient",
    about: "Waits for ever for a turn that the server took with 204 and never began (opencode#21524).",
    strategies: || Strategies { turns: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Turns for Broken {
    fn patience(&self) -> u32 {
        u32::MAX
    }
}
