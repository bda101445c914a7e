//! The button stops the conversation that was opened last, whichever it is shown in.

use super::Mutant;
use crate::reference::strategy::{Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "stops_the_last",
    about: "Whichever task the person stops, it stops the one that was opened last.",
    strategies: || Strategies { turns: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Turns for Broken {
    fn stopped<'a>(&self, wanted: &'a str, tasks: &[&'a str]) -> &'a str {
        tasks.last().copied().unwrap_or(wanted)
    }
}
