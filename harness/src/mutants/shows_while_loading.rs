//! Events go to the screen as they come, also while the conversation is being loaded.

use super::Mutant;
use crate::reference::strategy::{GapPolicy, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "shows_while_loading",
    about: "Applies live events before the conversation is loaded again, which then goes back in time.",
    strategies: || Strategies { gap: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl GapPolicy for Broken {
    fn holds_events(&self) -> bool {
        false
    }
}
