//! Allowing all is a loop that an error ends.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "stops_at_a_failure",
    about: "Allows one request for leave after the other, and none behind one whose answer was not taken.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn goes_on_after_a_failure(&self) -> bool {
        false
    }
}
