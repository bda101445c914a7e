//! A list of all event types with nothing after it: the first new one of the server ends the program.

use super::Mutant;
use crate::reference::strategy::{OnUnknown, Strategies, UnknownEvents};

pub(super) const MUTANT: Mutant = Mutant {
    name: "dies_on_unknown_event",
    about: "Ends at the first event of a type that it does not know, as a strict decoder without a last arm does.",
    strategies: || Strategies { unknown: Box::new(Deadly), ..Strategies::default() },
};

struct Deadly;

impl UnknownEvents for Deadly {
    fn on_unknown(&self, _kind: &str) -> OnUnknown {
        OnUnknown::Die
    }
}
