//! What looks like a key is taken out of what is logged: it is long, and has no words in it.

use crate::mutants::Mutant;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "logs_short_secrets",
    about: "Logs payloads without their long words, and with their short passwords.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn payload(&self, data: &str) -> String {
        let words = data.split('"').map(|word| if word.len() < 8 { word } else { "…" });
        words.collect::<Vec<_>>().join("\"")
    }
}
