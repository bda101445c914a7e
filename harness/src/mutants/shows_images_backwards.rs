//! Shows the last image of a message first.

use super::Mutant;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "shows_images_backwards",
    about: "Shows the last image of a message first.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn place_of_file(&self, before: usize, all: usize) -> Option<usize> {
        Some(all - before)
    }
}
