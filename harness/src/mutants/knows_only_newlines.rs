//! A line ends with LF and with nothing else.

use super::{Mutant, hears_only};

pub(super) const MUTANT: Mutant = Mutant {
    name: "knows_only_newlines",
    about: "Ends lines at LF alone: a CR is a letter of the line, and no line is ever empty.",
    strategies: || hears_only::strategies(bytes),
};

fn bytes(chunk: &[u8]) -> Vec<u8> {
    chunk.iter().map(|byte| if *byte == b'\r' { b' ' } else { *byte }).collect()
}
