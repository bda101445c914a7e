//! The server knows no such question, and the screen goes on asking it.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "keeps_stale_question",
    about: "Keeps asking what the server does not know any more (opencode#31874).",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn drops_stale(&self) -> bool {
        false
    }
}
