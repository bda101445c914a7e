//! A crash loop without an end.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "starts_for_ever",
    about: "Starts a server again that crashes each time, for ever.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn most_crashes(&self) -> usize {
        usize::MAX
    }
}
