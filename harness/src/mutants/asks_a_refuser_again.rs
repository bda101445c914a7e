//! A refusal of what is read is taken for bad luck.

use super::Mutant;
use crate::reference::strategy::{GapPolicy, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_a_refuser_again",
    about: "Reads the conversation again for ever after 401, though Retry is offered beside it.",
    strategies: || Strategies { gap: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl GapPolicy for Broken {
    fn fetches_again(&self, why: &str) -> bool {
        why.contains("401") || why.contains("403")
    }
}
