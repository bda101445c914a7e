//! Starts the server where the whole network can reach it.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "opens_to_the_network",
    about: "Starts the server where the whole network can reach it.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn words(&self, words: Vec<String>) -> Vec<String> {
        let open = |word: String| if word == "127.0.0.1" { "0.0.0.0".to_owned() } else { word };
        words.into_iter().map(open).collect()
    }
}
