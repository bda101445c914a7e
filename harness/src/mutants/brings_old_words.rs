//! Tells a new session what the old backend was told before.

use super::Mutant;
use crate::reference::strategy::{Cutover, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "brings_old_words",
    about: "Tells a new session what the old backend was told before.",
    strategies: || Strategies { cutover: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Cutover for Broken {
    fn first_words(&self, text: String, old: &[String]) -> String {
        [old, &[text]].concat().join("\n")
    }
}
