//! A list that is loaded again is put behind the one that is there, as an append without a clear does.

use crate::mutants::Mutant;
use crate::protocol::Update;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "adds_reload_behind",
    about: "Puts the rows that were loaded again behind those that it had.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn shown(&self, mut update: Update) -> Vec<Update> {
        if let Update::Timeline { view, .. } = &mut update {
            view.items.extend(view.items.clone());
        }
        vec![update]
    }
}
