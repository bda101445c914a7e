//! What the person has answered is dealt with.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "hides_questions_before_answer",
    about: "Takes a question of the agent's from the screen when its answer is on its way, and does not show it again when that fails.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn question_goes_early(&self) -> bool {
        true
    }
}
