//! In the middle of an approval comes something that nobody understands, and it goes on.

use super::Mutant;
use crate::reference::strategy::{Strategies, UnknownEvents};

pub(super) const MUTANT: Mutant = Mutant {
    name: "fails_open",
    about: "Goes on with tools and permissions after an event that it does not understand.",
    strategies: || Strategies { unknown: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl UnknownEvents for Broken {
    fn fails_closed(&self) -> bool {
        false
    }
}
