//! The flag is taken for a switch of everything.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "goes_with_the_flag",
    about: "Turns what is no agent off with the flag for the server.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn go_with_the_flag(&self) -> bool {
        true
    }
}
