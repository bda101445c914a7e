//! The switch to the server is taken for an occasion to move everything.

use super::Mutant;
use crate::reference::strategy::{Cutover, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "migrates_old_talks",
    about: "Brings the old backend's talks into the server with the first task.",
    strategies: || Strategies { cutover: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Cutover for Broken {
    fn brings_old_talks(&self) -> bool {
        true
    }
}
