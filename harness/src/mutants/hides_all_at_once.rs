//! Takes all requests for leave from the screen when all are allowed, also one whose answer failed.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "hides_all_at_once",
    about: "Takes all requests for leave from the screen when all are allowed, also one whose answer failed.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn hides_all(&self) -> bool {
        true
    }
}
