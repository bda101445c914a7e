//! A request that fails on its way is sent again, as many libraries do.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "answers_until_told",
    about: "Sends an answer once more when nobody has said that the server took it.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn answers_until_told(&self) -> bool {
        true
    }
}
