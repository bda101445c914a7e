//! CR LF ends a line; a CR by itself does not.

use super::{Mutant, hears_only};

pub(super) const MUTANT: Mutant = Mutant {
    name: "ends_no_line_at_a_return",
    about: "Knows LF and CR LF, and takes a CR by itself for a letter.",
    strategies: || hears_only::strategies(bytes),
};

fn bytes(chunk: &[u8]) -> Vec<u8> {
    let next = chunk.iter().skip(1).copied().map(Some).chain([None]);
    let alone = |byte, next| byte == b'\r' && next != Some(b'\n');
    chunk.iter().zip(next).map(|(byte, next)| if alone(*byte, next) { b' ' } else { *byte }).collect()
}
