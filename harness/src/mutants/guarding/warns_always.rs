//! Who cries wolf.

use crate::mutants::Mutant;
use crate::reference::strategy::{CredentialsFile, Keeping, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "warns_always",
    about: "Warns about a file of keys that nobody else can read.",
    strategies: || Strategies { credentials: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Keeping for Broken {
    fn is_safe(&self, _file: CredentialsFile) -> bool {
        false
    }
}
