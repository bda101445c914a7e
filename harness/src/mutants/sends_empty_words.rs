//! A prompt has a text, and if it is none.

use super::Mutant;
use crate::reference::strategy::{Attaching, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "sends_empty_words",
    about: "Sends an empty text along where files say all.",
    strategies: || Strategies { attaching: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Attaching for Broken {
    fn says_nothing(&self) -> bool {
        true
    }
}
