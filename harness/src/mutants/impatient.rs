//! What the server asks for in Retry-After is not read.

use super::Mutant;
use crate::reference::strategy::{Backoff, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "impatient",
    about: "Comes back before the server allows it, as clients do that never read Retry-After.",
    strategies: || Strategies { backoff: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Backoff for Broken {
    fn retry_after_ms(&self, _asked: u64, own: u64) -> u64 {
        own
    }
}
