//! After a gap it goes on with the live stream and never asks REST, as the terminal clients and naive users of the
//! SDKs do: the servers replay nothing, so what happened in the gap is never seen.

use super::Mutant;
use crate::reference::strategy::{Gap, GapPolicy, OnGap, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "resume_without_refresh",
    about: "Reconnects and goes on with the live stream; what was missed is never fetched, as in both servers' own \
            terminal clients.",
    strategies: || Strategies { gap: Box::new(AlwaysResume), ..Strategies::default() },
};

struct AlwaysResume;

impl GapPolicy for AlwaysResume {
    fn on_gap(&self, _gap: Gap) -> OnGap {
        OnGap::Resume
    }
}
