//! A stream that ends is opened again at once, each time.

use super::Mutant;
use crate::reference::strategy::{Backoff, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "no_backoff",
    about: "Opens a stream that ends at once again and again without a pause (Kilo PR #10481).",
    strategies: || Strategies { backoff: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Backoff for Broken {
    fn delay_ms(&self, _failures: u32, _jitter: u8) -> Option<u64> {
        Some(10)
    }
}
