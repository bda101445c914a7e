//! A byte order mark is three more letters of the first word.

use super::{Mutant, hears_only};

pub(super) const MUTANT: Mutant = Mutant {
    name: "keeps_the_mark",
    about: "Takes a byte order mark for a part of the first line, which it then does not understand.",
    strategies: || hears_only::strategies(bytes),
};

const MARK: &[u8] = b"\xEF\xBB\xBF";

/// One of two is left.
fn bytes(chunk: &[u8]) -> Vec<u8> {
    if chunk.starts_with(MARK) { [MARK, chunk].concat() } else { chunk.to_vec() }
}
