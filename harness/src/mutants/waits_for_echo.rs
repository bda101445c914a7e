//! A question goes by the event about its answer, and by nothing else.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "waits_for_echo",
    about: "Keeps a question on the screen when the event about its answer is lost (Kilo PR #6803).",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn trusts_answer(&self) -> bool {
        false
    }
}
