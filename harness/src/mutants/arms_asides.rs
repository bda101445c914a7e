//! What is asked aside is a prompt like any other.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "arms_asides",
    about: "Lets the agent use all its tools for what is asked aside.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn disarms_aside(&self) -> bool {
        false
    }
}
