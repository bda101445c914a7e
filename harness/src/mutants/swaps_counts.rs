//! Shows the lines that came as gone, and those that went as come.

use super::Mutant;
use crate::protocol::ChangedFile;
use crate::reference::strategy::{Changes, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "swaps_counts",
    about: "Shows the lines that came as gone, and those that went as come.",
    strategies: || Strategies { changes: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Changes for Broken {
    fn shown(&self, file: ChangedFile) -> Option<ChangedFile> {
        let (additions, deletions) = (file.deletions, file.additions);
        Some(ChangedFile { additions, deletions, ..file })
    }
}
