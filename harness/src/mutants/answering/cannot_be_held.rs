//! Goes on with its countdown after the person has stopped it.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "cannot_be_held",
    about: "Goes on with its countdown after the person has stopped it.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn can_be_held(&self) -> bool {
        false
    }
}
