//! Hides a changed file of which no line came or went, such as a new one that is empty.

use super::Mutant;
use crate::protocol::ChangedFile;
use crate::reference::strategy::{Changes, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "hides_changes_without_lines",
    about: "Hides a changed file of which no line came or went, such as a new one that is empty.",
    strategies: || Strategies { changes: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Changes for Broken {
    fn shown(&self, file: ChangedFile) -> Option<ChangedFile> {
        Some(file).filter(|file| file.additions + file.deletions > 0)
    }
}
