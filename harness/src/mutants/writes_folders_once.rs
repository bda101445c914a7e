//! The name of a folder is encoded once, as everything else is: the servers decode it twice, and work in another folder where
//! its name has an escape in it.

use super::Mutant;
use crate::reference::Strategies;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

pub(super) const MUTANT: Mutant = Mutant {
    name: "writes_folders_once",
    about: "Encodes a folder's name once, where the servers decode it twice.",
    strategies: || Strategies {
        written: |folder| utf8_percent_encode(folder, NON_ALPHANUMERIC).to_string(),
        ..Strategies::default()
    },
};
