//! Begins a task in the session that was there last.

use super::Mutant;
use crate::reference::strategy::{Cutover, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "goes_on_in_old_session",
    about: "Begins a task in the session that was there last.",
    strategies: || Strategies { cutover: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Cutover for Broken {
    fn has_own_session(&self) -> bool {
        false
    }
}
