//! A chunk is made text by itself, and a letter that lies in two chunks is lost.

use super::Mutant;
use crate::reference::strategy::Strategies;

pub(super) const MUTANT: Mutant = Mutant {
    name: "decodes_each_chunk",
    about: "Decodes each chunk by itself, so a letter that was cut in two becomes rubbish.",
    strategies: || Strategies {
        bytes: |chunk| String::from_utf8_lossy(chunk).into_owned().into_bytes(),
        ..Strategies::default()
    },
};
