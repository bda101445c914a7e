//! All answers go to the folder in which the client was opened.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "answers_in_main_folder",
    about: "Answers in the wrong folder, where nobody asked (Kilo PR #11133).",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn directory<'a>(&self, _own: &'a str, main: &'a str) -> &'a str {
        main
    }
}
