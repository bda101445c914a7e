//! What stands in a frame beside its data is read as if it were data.

use super::{Mutant, hears_only};

pub(super) const MUTANT: Mutant = Mutant {
    name: "reads_all_as_data",
    about: "Takes a frame's other lines, as `retry:`, for a part of its data.",
    strategies: || hears_only::strategies(bytes),
};

fn bytes(chunk: &[u8]) -> Vec<u8> {
    let mut read = Vec::with_capacity(chunk.len());
    for line in chunk.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"retry:") {
            read.extend_from_slice(b"data: ");
        }
        read.extend_from_slice(line);
    }
    read
}
