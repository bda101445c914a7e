//! 403 is another number than 401.

use super::Mutant;
use crate::reference::strategy::{Backoff, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "hammers_where_forbidden",
    about: "Opens the stream again for ever after 403, and gives up after 401.",
    strategies: || Strategies { backoff: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Backoff for Broken {
    fn gives_up_on(&self, status: u16) -> bool {
        status == 401
    }
}
