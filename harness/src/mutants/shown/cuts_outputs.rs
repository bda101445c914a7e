//! A row has room for so much, and nobody is told that there was more.

use crate::mutants::Mutant;
use crate::protocol::{Update, View};
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "cuts_outputs",
    about: "Shows the first 2,000 characters of what a tool has said, as if that were all.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

/// So many characters are shown.
const ROOM: usize = 2000;

struct Broken;

fn cut(output: &mut Option<String>) {
    if let Some(said) = output {
        *said = said.chars().take(ROOM).collect();
    }
}

impl Telling for Broken {
    fn shown(&self, mut update: Update) -> Vec<Update> {
        match &mut update {
            Update::ToolState { output, .. } => cut(output),
            Update::Timeline { view, .. } => view.items.iter_mut().for_each(|item| cut(&mut item.output)),
            _ => {}
        }
        vec![update]
    }

    fn own_view(&self, mut view: View) -> View {
        view.items.iter_mut().for_each(|item| cut(&mut item.output));
        view
    }
}
