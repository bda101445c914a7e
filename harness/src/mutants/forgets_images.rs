//! Shows images while they are sent, and none when a task is loaded again.

use super::Mutant;
use crate::reference::strategy::{Deltas, Files, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "forgets_images",
    about: "Shows images while they are sent, and none when a task is loaded again.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn loaded_files(&self, _read: Files) -> Files {
        Files::new()
    }
}
