//! Everybody may do everything with a link, whatever it leads to.

use crate::mutants::Mutant;
use crate::reference::strategy::{Keeping, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "looks_at_the_link",
    about: "Judges a link by itself and not by the file that it leads to.",
    strategies: || Strategies { credentials: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Keeping for Broken {
    fn follows_links(&self) -> bool {
        false
    }
}
