//! Every path is read from the folder in which the task works.

use crate::mutants::Mutant;
use crate::reference::strategy::{Guarding, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "guards_from_the_tasks_folder",
    about: "Reads the path of a write from the task's folder on, where the servers write it from the workspace on.",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn read_from<'a>(&self, own: &'a str, _main: &'a str) -> [&'a str; 2] {
        [own, own]
    }
}
