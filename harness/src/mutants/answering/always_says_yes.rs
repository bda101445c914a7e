//! The button that says no is wired like the one that says yes.

use super::Mutant;
use crate::protocol::Reply;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "always_says_yes",
    about: "Sends a yes, whatever the person says.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn sent_for(&self, _said: Reply) -> Reply {
        Reply::Once
    }
}
