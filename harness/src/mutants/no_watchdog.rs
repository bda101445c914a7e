//! A read that never returns is waited for.

use super::Mutant;
use crate::reference::strategy::{Liveness, Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "no_watchdog",
    about: "Reads for ever from a stream that is dead and was never closed (opencode#39352).",
    strategies: || Strategies {
        liveness: Box::new(Broken),
        turns: Box::new(Broken),
        ..Strategies::default()
    },
};

struct Broken;

impl Liveness for Broken {
    fn silence_limit_ms(&self) -> Option<u64> {
        None
    }
}

/// Nor does it ask.
impl Turns for Broken {
    fn quiet_limit_ms(&self) -> Option<u64> {
        None
    }
}
