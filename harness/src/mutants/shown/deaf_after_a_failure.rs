//! What has failed once is over for good.

use super::deaf_after_a_stop::DeafAfter;
use crate::mutants::Mutant;
use crate::protocol::Outcome;
use crate::reference::strategy::Strategies;

pub(super) const MUTANT: Mutant = Mutant {
    name: "deaf_after_a_failure",
    about: "Shows nothing of the turns that come after one that has failed in the same task.",
    strategies: || Strategies { telling: Box::new(DeafAfter::an(Outcome::Error)), ..Strategies::default() },
};
