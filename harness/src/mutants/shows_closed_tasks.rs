//! Goes on with a task that the person is done with.

use super::Mutant;
use crate::reference::strategy::{Cutover, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "shows_closed_tasks",
    about: "Goes on with a task that the person is done with.",
    strategies: || Strategies { cutover: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Cutover for Broken {
    fn shows_closed(&self) -> bool {
        true
    }
}
