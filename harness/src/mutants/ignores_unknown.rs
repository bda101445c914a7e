//! What is new is dropped without a trace.

use super::Mutant;
use crate::reference::strategy::{OnUnknown, Strategies, UnknownEvents};

pub(super) const MUTANT: Mutant = Mutant {
    name: "ignores_unknown",
    about: "Neither counts nor logs events of unknown types (Kilo extension: default null).",
    strategies: || Strategies { unknown: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl UnknownEvents for Broken {
    fn on_unknown(&self, _kind: &str) -> OnUnknown {
        OnUnknown::Ignore
    }
}
