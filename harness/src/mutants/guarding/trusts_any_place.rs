//! A file is safe wherever it lies.

use crate::mutants::Mutant;
use crate::reference::strategy::{CredentialsFile, Keeping, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "trusts_any_place",
    about: "Does not mind that the file of keys lies in the workspace.",
    strategies: || Strategies { credentials: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Keeping for Broken {
    fn is_safe(&self, file: CredentialsFile) -> bool {
        file.mode & 0o077 == 0
    }
}
