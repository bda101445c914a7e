//! Has servers of tools of its own, of which the server knows nothing.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "keeps_own_tool_servers",
    about: "Has servers of tools of its own, of which the server knows nothing.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn asks_server_for_tools(&self) -> bool {
        false
    }
}
