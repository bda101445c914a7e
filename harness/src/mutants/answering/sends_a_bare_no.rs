//! The agent is told no, and not why.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "sends_a_bare_no",
    about: "Keeps to itself what the person says beside a no.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn sends_words(&self) -> bool {
        false
    }
}
