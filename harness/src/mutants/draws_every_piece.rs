//! Each delta is drawn by itself.

use super::Mutant;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "draws_every_piece",
    about: "Publishes each piece of text by itself, however fast they come.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn publish_every_ms(&self) -> u64 {
        0
    }
}
