//! What a server wants is a number of seconds, or nothing.

use super::Mutant;
use crate::reference::strategy::{Backoff, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "counts_no_dates",
    about: "Asks again at once where the server has named the time by a date.",
    strategies: || Strategies { backoff: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Backoff for Broken {
    fn reads_dates(&self) -> bool {
        false
    }
}
