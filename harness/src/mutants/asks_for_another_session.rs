//! A session whose answer is lost is made again.

use super::Mutant;
use crate::reference::strategy::{Cutover, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_for_another_session",
    about: "Asks for another session when one could not be had, and leaves those behind whose answers were lost.",
    strategies: || Strategies { cutover: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Cutover for Broken {
    fn asks_again(&self) -> bool {
        true
    }
}
