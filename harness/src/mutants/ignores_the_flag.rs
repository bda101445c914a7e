//! Begins new tasks on the server, whatever the flag says.

use super::Mutant;
use crate::reference::strategy::{Cutover, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "ignores_the_flag",
    about: "Begins new tasks on the server, whatever the flag says.",
    strategies: || Strategies { cutover: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Cutover for Broken {
    fn minds_flag(&self) -> bool {
        false
    }
}
