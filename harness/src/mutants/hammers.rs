//! Whatever the server answers, it is asked again.

use super::Mutant;
use crate::reference::strategy::{Backoff, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "hammers",
    about: "Opens the stream again for ever after 401 (opencode-mobile PR #79, opencode#28180).",
    strategies: || Strategies { backoff: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Backoff for Broken {
    fn gives_up_on(&self, _status: u16) -> bool {
        false
    }
}
