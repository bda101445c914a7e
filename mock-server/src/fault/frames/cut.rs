//! Ends the stream: between frames, or in the middle of one.

use super::Due;
use super::passing::Passing;
use bytes::Bytes;
use fixtures::fault_plan::action::{Cut, CutPlace};

/// Is there such a place in the frame?
pub(super) fn can(cut: &Cut, passing: &Passing<'_>) -> bool {
    match cut.place {
        CutPlace::BetweenFrames => true,
        place => passing.bytes.as_ref().is_some_and(|bytes| at(place, bytes).is_some()),
    }
}

pub(super) fn act(cut: &Cut, due: Due, passing: &mut Passing<'_>) {
    match (cut.place, passing.bytes.take()) {
        // The frame that it waited for still goes out.
        (CutPlace::BetweenFrames, bytes) if due == Due::Behind => passing.bytes = bytes,
        (CutPlace::BetweenFrames, _) => passing.is_last(),
        (place, Some(bytes)) => {
            // Of several that are alike it is the last that does not come whole.
            for _ in 0..std::mem::take(&mut passing.copies) {
                passing.put(bytes.clone(), Due::Now);
            }
            passing.bytes = at(place, &bytes).map(|end| bytes.slice(..end));
            passing.is_last();
        }
        (_, None) => {}
    }
    passing.end = Some(cut.end);
}

/// After how many bytes, at least one and not all of them.
fn at(place: CutPlace, bytes: &Bytes) -> Option<usize> {
    let at = match place {
        CutPlace::BetweenFrames => None,
        CutPlace::MidFrame { bytes: wanted } => Some(wanted.min(bytes.len().saturating_sub(1))),
        CutPlace::LineEnd => {
            let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'))?;
            let is_double = bytes[end..].starts_with(b"\r\n");
            Some(end + usize::from(is_double))
        }
        // The second byte of a character is the first that begins none.
        CutPlace::Character => bytes.iter().position(|byte| byte & 0b1100_0000 == 0b1000_0000),
        CutPlace::BlankLine => {
            let ends = if bytes.ends_with(b"\r\n\r\n") { 2 } else { 1 };
            Some(bytes.len().saturating_sub(ends))
        }
    };
    at.filter(|at| (1..bytes.len()).contains(at))
}
