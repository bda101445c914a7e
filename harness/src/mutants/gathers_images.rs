//! Shows all images of a task that is loaded again beside its last message.

use super::Mutant;
use crate::reference::strategy::{Deltas, Files, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "gathers_images",
    about: "Shows all images of a task that is loaded again beside its last message.",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn loaded_files(&self, read: Files) -> Files {
        let last = read.keys().next_back().cloned();
        last.map(|last| (last, read.into_values().flatten().collect())).into_iter().collect()
    }
}
