//! What a subagent asks is another session's matter.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "own_sessions_only",
    about: "Never shows what a child session asks, so the task hangs (opencode#36868, #13715).",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn asks_for_children(&self) -> bool {
        false
    }
}
