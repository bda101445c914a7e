//! A chunk is believed to be one event.

use super::Mutant;
use crate::reference::strategy::Strategies;

pub(super) const MUTANT: Mutant = Mutant {
    name: "one_event_a_chunk",
    about: "Takes only the first event of a chunk, as clients do that were tried with slow servers.",
    strategies: || Strategies { bytes: first_of, ..Strategies::default() },
};

/// All of a chunk up to the first blank line.
fn first_of(chunk: &[u8]) -> Vec<u8> {
    let end = chunk.windows(2).position(|pair| pair == b"\n\n").map_or(chunk.len(), |at| at + 2);
    chunk[..end].to_vec()
}
