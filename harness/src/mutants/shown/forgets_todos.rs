//! The list of things to do is not among what is loaded again.

use crate::mutants::Mutant;
use crate::protocol::Update;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "forgets_todos",
    about: "Shows no list of things to do after a gap until the next one comes.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn shown(&self, mut update: Update) -> Vec<Update> {
        if let Update::Timeline { view, .. } = &mut update {
            view.todos.clear();
        }
        vec![update]
    }
}
