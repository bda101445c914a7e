//! No spinner: while the agent works, the screen looks as if nobody did.

use super::Mutant;
use crate::reference::strategy::{Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "hides_work",
    about: "Never says that the agent is at work.",
    strategies: || Strategies { turns: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Turns for Broken {
    fn tells_of_work(&self) -> bool {
        false
    }
}
