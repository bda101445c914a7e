//! Retry reads, and nobody listens.

use super::Mutant;
use crate::reference::strategy::{GapPolicy, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "retries_without_a_stream",
    about: "Has given up its stream for wrong credentials, and opens none when the person presses Retry.",
    strategies: || Strategies { gap: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl GapPolicy for Broken {
    fn retry_opens(&self) -> bool {
        false
    }
}
