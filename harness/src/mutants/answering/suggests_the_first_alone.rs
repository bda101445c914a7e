//! A countdown that knows of one question at a time.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "suggests_the_first_alone",
    about: "Suggests an answer to the first of several questions, and none to the others.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn suggests(&self, labels: Vec<Vec<String>>) -> Vec<Vec<String>> {
        labels.into_iter().take(1).collect()
    }
}
