//! A CR at the end of a chunk ends the line, and the LF that begins the next chunk ends another.

use super::{Mutant, hears_only};

pub(super) const MUTANT: Mutant = Mutant {
    name: "ends_a_line_twice",
    about: "Makes each chunk's CR LF one end, and counts one that was cut in two as two.",
    strategies: || hears_only::strategies(bytes),
};

fn bytes(chunk: &[u8]) -> Vec<u8> {
    let mut ends = Vec::with_capacity(chunk.len());
    for byte in chunk {
        match byte {
            b'\n' if ends.last() == Some(&b'\r') => {}
            byte => ends.push(*byte),
        }
    }
    ends.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect()
}
