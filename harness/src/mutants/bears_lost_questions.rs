//! What could not be read is empty.

use super::Mutant;
use crate::reference::strategy::{GapPolicy, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "bears_lost_questions",
    about: "Takes requests for leave and questions that could not be read after a gap for none.",
    strategies: || Strategies { gap: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl GapPolicy for Broken {
    fn bears(&self, what: &str) -> bool {
        matches!(what, "permissions" | "questions")
    }
}
