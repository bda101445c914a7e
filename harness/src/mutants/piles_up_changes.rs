//! Adds the changed files that it is told of to those that it shows.

use super::Mutant;
use crate::protocol::Diff;
use crate::reference::strategy::{Changes, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "piles_up_changes",
    about: "Adds the changed files that it is told of to those that it shows.",
    strategies: || Strategies { changes: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Changes for Broken {
    fn told(&self, before: Option<Diff>, now: Diff) -> Diff {
        match (before, now) {
            (Some(Diff::Known(mut before)), Diff::Known(now)) => {
                before.retain(|old| !now.iter().any(|new| new.file == old.file));
                before.extend(now);
                Diff::Known(before)
            }
            (_, now) => now,
        }
    }
}
