//! Stops the tasks that are at work when the flag is turned off.

use super::Mutant;
use crate::reference::strategy::{Cutover, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "stops_at_the_flag",
    about: "Stops the tasks that are at work when the flag is turned off.",
    strategies: || Strategies { cutover: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Cutover for Broken {
    fn stops_running(&self) -> bool {
        true
    }
}
