//! Prompts an edited message behind what stands there.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "edits_behind",
    about: "Prompts an edited message behind what stands there.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn goes_back_first(&self) -> bool {
        false
    }
}
