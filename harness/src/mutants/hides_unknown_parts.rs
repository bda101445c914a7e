//! Shows nothing where a part of an unknown kind stands.

use super::Mutant;
use crate::reference::strategy::{Deltas, OnUnknownPart, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "hides_unknown_parts",
    about: "Shows nothing where a part of an unknown kind stands.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn on_unknown_part(&self, _raw: String) -> OnUnknownPart {
        OnUnknownPart::Hide
    }
}
