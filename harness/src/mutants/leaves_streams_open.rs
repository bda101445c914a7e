//! The new stream is opened, the old one is forgotten, not closed.

use super::Mutant;
use crate::reference::strategy::{Liveness, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "leaves_streams_open",
    about: "Opens a second stream beside one that seems dead, as two retry loops do that don't know each other \
            (Kilo, SDK retry).",
    strategies: || Strategies { liveness: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Liveness for Broken {
    fn closes_old(&self) -> bool {
        false
    }
}
