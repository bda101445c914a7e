//! The question goes when the button is pressed, whether or not the answer arrives.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "hides_before_answer",
    about: "Removes a question before its answer has arrived; when that fails, the agent waits for ever (Kilo PR \
            #6803).",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn goes_early(&self) -> bool {
        true
    }
}
