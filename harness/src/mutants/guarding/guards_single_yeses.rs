//! Who may always write may write everywhere.

use crate::mutants::Mutant;
use crate::protocol::Reply;
use crate::reference::strategy::{Guarding, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "guards_single_yeses",
    about: "Holds a yes against the disk that is given once, and not one for ever.",
    strategies: || Strategies { guard: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Guarding for Broken {
    fn holds(&self, yes: Reply) -> bool {
        yes == Reply::Once
    }
}
