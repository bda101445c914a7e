//! What the stream does not say never happens: a lost end is waited for till doomsday.

use super::Mutant;
use crate::reference::strategy::{Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "waits_for_ever",
    about: "Waits for ever for an end of a turn, or a question, that the stream has lost (t3code PR #2908).",
    strategies: || Strategies { turns: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Turns for Broken {
    fn quiet_limit_ms(&self) -> Option<u64> {
        None
    }
}
