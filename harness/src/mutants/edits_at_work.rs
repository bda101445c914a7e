//! Goes back while the agent is at work, without stopping it first.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "edits_at_work",
    about: "Goes back while the agent is at work, without stopping it first.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn stops_first(&self) -> bool {
        false
    }
}
