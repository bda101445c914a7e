//! A file is a file.

use crate::mutants::Mutant;
use crate::reference::strategy::{CredentialsFile, Keeping, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "trusts_any_mode",
    about: "Does not look at who can read the file of keys.",
    strategies: || Strategies { credentials: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Keeping for Broken {
    fn is_safe(&self, file: CredentialsFile) -> bool {
        !file.in_workspace
    }
}
