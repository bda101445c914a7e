//! A server of tools that was not taken is told as if it was.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "adds_tools_silently",
    about: "Says nothing when the server does not take a server of tools.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn tells_untaken_tools(&self) -> bool {
        false
    }
}
