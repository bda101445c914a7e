//! The dialog has room for one question.

use super::Mutant;
use crate::protocol::Question;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_the_first",
    about: "Of several questions that are asked at once it shows the first.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn question_told(&self, mut asked: Question) -> Question {
        asked.questions.truncate(1);
        asked
    }
}
