//! The stream ends, and nobody opens it again: the task stands as it stood.

use super::Mutant;
use crate::reference::strategy::{Backoff, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "never_reconnects",
    about: "Takes the end of the stream for the end of everything, as users of the SDKs do whose loop over the \
            events just ends.",
    strategies: || Strategies { backoff: Box::new(Never), ..Strategies::default() },
};

struct Never;

impl Backoff for Never {
    fn delay_ms(&self, _failures: u32, _jitter: u8) -> Option<u64> {
        None
    }

    fn gives_up_on(&self, _status: u16) -> bool {
        true
    }
}
