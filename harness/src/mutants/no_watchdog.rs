//! A read that never returns is waited for.

use super::Mutant;
use crate::reference::strategy::{Liveness, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "no_watchdog",
    about: "Reads for ever from a stream that is dead and was never closed (opencode#39352).",
    strategies: || Strategies { liveness: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Liveness for Broken {
    fn silence_limit_ms(&self) -> Option<u64> {
        None
    }
}
