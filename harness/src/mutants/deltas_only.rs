//! Text comes by deltas; what a part says when it is done is not looked at.

use super::Mutant;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "deltas_only",
    about: "Shows no text of a server that sends no deltas (opencode#50285).",
    strategies: || Strategies { deltas: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Deltas for Broken {
    fn takes_whole(&self) -> bool {
        false
    }
}
