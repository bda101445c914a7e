//! What is new is shown as it came.

use super::Mutant;
use crate::reference::strategy::{OnUnknown, Strategies, UnknownEvents};

pub(super) const MUTANT: Mutant = Mutant {
    name: "shows_unknown",
    about: "Shows an event of an unknown type as garbage (vibe-kanban#3123).",
    strategies: || Strategies { unknown: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl UnknownEvents for Broken {
    fn on_unknown(&self, _kind: &str) -> OnUnknown {
        OnUnknown::Show
    }
}
