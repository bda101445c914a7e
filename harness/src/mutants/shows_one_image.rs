//! Shows one image of each message, however many there are.

use super::Mutant;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "shows_one_image",
    about: "Shows one image of each message, however many there are.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn place_of_file(&self, before: usize, all: usize) -> Option<usize> {
        (all == 0).then_some(before)
    }
}
