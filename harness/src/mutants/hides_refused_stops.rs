//! The button says that it has worked, whatever the server says.

use super::Mutant;
use crate::reference::strategy::{Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "hides_refused_stops",
    about: "Says that the agent was stopped although the server has refused to.",
    strategies: || Strategies { turns: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Turns for Broken {
    fn tells_refused_stops(&self) -> bool {
        false
    }
}
