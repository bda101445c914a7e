//! Behind a reconnect a running text is gone on with where it stood: what was said meanwhile is missing in the middle of it,
//! until the whole text comes.

use super::Mutant;
use crate::reference::strategy::{Deltas, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "adds_behind_a_gap",
    about: "Adds what comes behind a reconnect to the text that was shown before, as if nothing had been said meanwhile.",
    strategies: || Strategies { deltas: Box::new(OverTheGap), ..Strategies::default() },
};

struct OverTheGap;

impl Deltas for OverTheGap {
    fn go_on_over_a_gap(&self) -> bool {
        true
    }
}
