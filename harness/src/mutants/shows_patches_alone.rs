//! Counts the lines of patches, and believes no count without a patch.

use super::Mutant;
use crate::protocol::ChangedFile;
use crate::reference::strategy::{Changes, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "shows_patches_alone",
    about: "Counts the lines of patches, and believes no count without a patch.",
    strategies: || Strategies { changes: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Changes for Broken {
    fn shown(&self, file: ChangedFile) -> Option<ChangedFile> {
        let lines = |sign| {
            let lines = file.patch.iter().flat_map(|patch| patch.lines());
            let own = lines.skip_while(|line| !line.starts_with("@@")).filter(|line| line.starts_with(sign));
            u64::try_from(own.count()).unwrap_or(u64::MAX)
        };
        let (additions, deletions) = (lines('+'), lines('-'));
        Some(ChangedFile { additions, deletions, ..file })
    }
}
