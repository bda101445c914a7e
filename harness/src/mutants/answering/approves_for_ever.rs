//! Gives leave for good where the rule gives it this once.

use super::Mutant;
use crate::protocol::Reply;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "approves_for_ever",
    about: "Gives leave for good where the rule gives it this once.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn says(&self) -> Reply {
        Reply::Always
    }
}
