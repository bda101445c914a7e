//! An event that has lost its session is skipped, and the hole stays.

use super::Mutant;
use crate::reference::strategy::{Routing, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "skips_nameless",
    about: "Skips a delta that names no session, and goes on behind the hole.",
    strategies: || Strategies { routing: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Routing for Broken {
    fn needs_session(&self) -> bool {
        false
    }
}
