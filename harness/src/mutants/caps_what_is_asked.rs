//! A cap of its own on all that it waits, also on what the server asks for.

use super::Mutant;
use crate::reference::strategy::{Backoff, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "caps_what_is_asked",
    about: "Comes back after five seconds at most, however long the server wants to be left alone.",
    strategies: || Strategies { backoff: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

const CAP_MS: u64 = 5000;

impl Backoff for Broken {
    fn retry_after_ms(&self, asked: u64, own: u64) -> u64 {
        asked.min(CAP_MS).max(own)
    }
}
