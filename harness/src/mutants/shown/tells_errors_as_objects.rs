//! An error is put into words by a language that has none for it.

use crate::mutants::Mutant;
use crate::protocol::Update;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "tells_errors_as_objects",
    about: "Tells each error as [object Object].",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn shown(&self, mut update: Update) -> Vec<Update> {
        if let Update::Error { message, .. } = &mut update {
            "[object Object]".clone_into(message);
        }
        vec![update]
    }
}
