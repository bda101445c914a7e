//! The session that an event names is believed, also when its message is another one's.

use super::Mutant;
use crate::reference::strategy::{Routing, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "trusts_names",
    about: "Believes the session that an event names, though its message belongs elsewhere (opencode#50308).",
    strategies: || Strategies { routing: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Routing for Broken {
    fn knows_owners(&self) -> bool {
        false
    }
}
