//! Who may write the keys may change them.

use crate::mutants::Mutant;
use crate::reference::strategy::{CredentialsFile, Keeping, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "minds_readers_alone",
    about: "Warns about others who can read the file of keys, and not about those who can write to it.",
    strategies: || Strategies { credentials: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Keeping for Broken {
    fn is_safe(&self, file: CredentialsFile) -> bool {
        file.mode & 0o044 == 0 && !file.in_workspace
    }
}
