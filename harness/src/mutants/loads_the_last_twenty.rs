//! A page of the conversation is taken for the conversation.

use super::Mutant;
use crate::reference::strategy::{GapPolicy, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "loads_the_last_twenty",
    about: "After a gap it asks for the last twenty messages, and all that came before them is gone.",
    strategies: || Strategies { gap: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl GapPolicy for Broken {
    fn asks_for(&self, messages: String) -> String {
        format!("{messages}?limit=20")
    }
}
