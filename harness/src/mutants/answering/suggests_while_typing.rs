//! Sends the suggestion while the person types another answer.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "suggests_while_typing",
    about: "Sends the suggestion while the person types another answer.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn typing_stops(&self) -> bool {
        false
    }
}
