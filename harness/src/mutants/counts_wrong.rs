//! The counters of reconnects and crashes count what they like.

use super::Mutant;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "counts_wrong",
    about: "Counts each reconnect, each crash and each path outside twice.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn signal(&self, name: &str, value: u64) -> Option<u64> {
        let twice =
            ["reconnect_count", "crash_count", "path_attempt_count"].iter().any(|end| name.ends_with(end));
        Some(if twice { value * 2 } else { value })
    }
}
