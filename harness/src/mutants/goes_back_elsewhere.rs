//! There is one folder to a window, and a task may work in another one.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "goes_back_elsewhere",
    about: "Goes back, copies and edits in the folder of the window, whichever the task works in.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn directory<'a>(&self, _own: &'a str, main: &'a str) -> &'a str {
        main
    }
}
