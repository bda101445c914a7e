//! What is asked is read in the folder of the window, and a task may work in another one.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_of_the_main_folder",
    about: "Reads after a gap what is asked in the main folder, and in no other.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn loads_in<'a>(&self, _own: &'a str, main: &'a str) -> &'a str {
        main
    }
}
