//! Answers to questions go to the folder in which the client was opened.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "answers_questions_in_main_folder",
    about: "Answers the agent's questions in the wrong folder, where nobody asked.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn question_directory<'a>(&self, _own: &'a str, main: &'a str) -> &'a str {
        main
    }
}
