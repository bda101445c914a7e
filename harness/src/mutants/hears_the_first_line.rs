//! An event that was written on several lines is what its first line says.

use super::{Mutant, hears_only};

pub(super) const MUTANT: Mutant = Mutant {
    name: "hears_the_first_line",
    about: "Takes the first line of an event's data for the whole of it.",
    strategies: || hears_only::strategies(bytes),
};

fn bytes(chunk: &[u8]) -> Vec<u8> {
    let mut heard = Vec::with_capacity(chunk.len());
    let mut within = false;
    for line in chunk.split_inclusive(|byte| *byte == b'\n') {
        let is_data = line.starts_with(b"data:");
        if !(is_data && within) {
            heard.extend_from_slice(line);
        }
        within = is_data;
    }
    heard
}
