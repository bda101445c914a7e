//! A log line that says too much.

use crate::mutants::Mutant;
use crate::reference::strategy::{Keeping, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "quotes_keys",
    about: "Logs what stands in the file of keys.",
    strategies: || Strategies { credentials: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Keeping for Broken {
    fn quoted<'a>(&self, content: &'a str) -> &'a str {
        content
    }
}
