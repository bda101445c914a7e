//! A light that was once green stays green.

use crate::mutants::Mutant;
use crate::protocol::{ConnectionState, Update};
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "calls_itself_connected",
    about: "Says that it is connected, and never again that it is not.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn shown(&self, update: Update) -> Vec<Update> {
        let is_news = match &update {
            Update::Connection { state } => *state == ConnectionState::Connected,
            _ => true,
        };
        is_news.then_some(update).into_iter().collect()
    }
}
