//! Shows the controls of a browser that these sessions do not have.

use super::Mutant;
use crate::protocol::Affordance;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "offers_a_browser",
    about: "Shows the controls of a browser that these sessions do not have.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn offers(&self, mut usable: Vec<Affordance>) -> Vec<Affordance> {
        usable.push(Affordance::Browser);
        usable
    }
}
