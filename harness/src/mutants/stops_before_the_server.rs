//! The turn is over as soon as somebody wants it to be; an abort that is refused is taken for one that worked.

use super::Mutant;
use crate::reference::strategy::{Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "stops_before_the_server",
    about: "Takes an abort for done before the server has answered, so a refused one goes unnoticed (paseo PR \
            #2258).",
    strategies: || Strategies { turns: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Turns for Broken {
    fn abort_ends_at_once(&self) -> bool {
        true
    }
}
