//! All of the client hangs on one connection.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "stops_with_the_server",
    about: "Shows what is no agent as broken while the server is away.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn need_the_server(&self) -> bool {
        true
    }
}
