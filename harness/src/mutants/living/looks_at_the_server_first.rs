//! No server, no task: the flag is looked at afterwards.

use crate::mutants::Mutant;
use crate::reference::strategy::{Cutover, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "looks_at_the_server_first",
    about: "Refuses every task when the server is not there, also one of the old backend.",
    strategies: || Strategies { cutover: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Cutover for Broken {
    fn looks_at_server_first(&self) -> bool {
        true
    }
}
