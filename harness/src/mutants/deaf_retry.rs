//! The button is there, and nothing is behind it.

use super::Mutant;
use crate::reference::strategy::{GapPolicy, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "deaf_retry",
    about: "Offers Retry, which does nothing.",
    strategies: || Strategies { gap: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl GapPolicy for Broken {
    fn retries(&self) -> bool {
        false
    }
}
