//! Somebody tries, and that is enough to know.

use crate::mutants::Mutant;
use crate::protocol::Update;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "keeps_trying_silently",
    about: "Tries for ever to open a stream that does not come back, and tells no error.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn shown(&self, update: Update) -> Vec<Update> {
        match update {
            Update::Error { task_id: None, .. } => Vec::new(),
            update => vec![update],
        }
    }
}
