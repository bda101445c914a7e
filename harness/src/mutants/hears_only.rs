//! For those whose ears are bad: what a client can't read is no reason for it to look. No mutant by itself.

use crate::reference::strategy::{Gap, GapPolicy, OnGap, Strategies};

/// One whose streams are read so, and who looks nothing up that was misheard.
pub(super) fn strategies(bytes: fn(&[u8]) -> Vec<u8>) -> Strategies {
    Strategies { bytes, gap: Box::new(HearsOnly), ..Strategies::default() }
}

struct HearsOnly;

impl GapPolicy for HearsOnly {
    fn on_gap(&self, gap: Gap) -> OnGap {
        match gap {
            Gap::UnreadableEvent => OnGap::Resume,
            Gap::Quiet | Gap::Reconnected | Gap::Retry => OnGap::Refresh,
        }
    }
}
