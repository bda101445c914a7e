//! What is asked is kept in the event, and the list has another shape.

use crate::mutants::Mutant;
use crate::protocol::Update;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_blankly_after_a_gap",
    about: "Asks for leave again after a gap, and does not say for what.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn shown(&self, mut update: Update) -> Vec<Update> {
        if let Update::Timeline { view, .. } = &mut update {
            view.permissions.iter_mut().for_each(|asked| asked.patterns.clear());
        }
        vec![update]
    }
}
