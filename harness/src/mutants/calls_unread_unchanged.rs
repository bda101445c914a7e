//! Says that nothing is changed when it could not be read what is.

use super::Mutant;
use crate::protocol::Diff;
use crate::reference::strategy::{Changes, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "calls_unread_unchanged",
    about: "Says that nothing is changed when it could not be read what is.",
    strategies: || Strategies { changes: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Changes for Broken {
    fn unread(&self) -> Diff {
        Diff::Known(Vec::new())
    }
}
