//! The screen is drawn twice a second.

use super::Mutant;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "draws_seldom",
    about: "Publishes text twice a second, so that it comes in lumps.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn publish_every_ms(&self) -> u64 {
        500
    }
}
