//! Shows a part of an unknown kind as it came.

use super::Mutant;
use crate::reference::strategy::{Deltas, OnUnknownPart, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "prints_unknown_parts",
    about: "Shows a part of an unknown kind as it came.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn on_unknown_part(&self, raw: String) -> OnUnknownPart {
        OnUnknownPart::Show(raw)
    }
}
