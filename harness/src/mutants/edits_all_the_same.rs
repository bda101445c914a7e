//! Prompts an edited message though its task could not go back.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "edits_all_the_same",
    about: "Prompts an edited message though its task could not go back.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn prompts_all_the_same(&self) -> bool {
        true
    }
}
