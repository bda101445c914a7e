//! Cuts the connection: between frames, or in the middle of one.

use super::Seen;
use crate::performer::Frame;
use bytes::Bytes;
use fixtures::fault_plan::{After, CutPlace, Fault};

/// The bytes that still go out, if it is time to cut.
pub(super) fn act(place: CutPlace, due: bool, seen: &Seen, fault: &Fault, frame: &Frame) -> Option<Bytes> {
    match place {
        CutPlace::MidFrame { bytes } => {
            due.then(|| frame.bytes.slice(..bytes.min(frame.bytes.len().saturating_sub(1))))
        }
        // At once after the event that it waits for, not when the next one comes: there may be none.
        CutPlace::BetweenFrames if fault.when.after == After::Events(0) => Some(Bytes::new()),
        CutPlace::BetweenFrames => (due || seen.is_due_with(&fault.when.after, frame))
            .then(|| if due { Bytes::new() } else { frame.bytes.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::carried;

    #[test]
    fn the_cut_is_where_the_plan_says() {
        let kinds = ["a", "b", "a", "c"];
        for (when, action, expected) in [
            ("after_events = 2", "cut = \"mid-frame\", bytes = 1", "<a><b><!"),
            ("after_events = 2", "cut = \"mid-frame\", bytes = 99", "<a><b><a!"),
            ("after_events = 0", "cut = \"mid-frame\", bytes = 2", "<a!"),
            ("after_events = 0", "cut = \"between-frames\"", "!"),
            ("after_events = 2", "cut = \"between-frames\"", "<a><b>!"),
            ("after_event = \"a\", nth = 2", "cut = \"between-frames\"", "<a><b><a>!"),
            ("after_event = \"b\"", "cut = \"mid-frame\", bytes = 1", "<a><b><!"),
        ] {
            assert_eq!(carried(when, action, &kinds), (expected.to_owned(), 0), "{when} {action}");
        }
    }

    #[test]
    fn a_fault_that_never_fires_is_known() {
        let never = carried("after_event = \"z\"", "cut = \"between-frames\"", &["a", "b"]);
        assert_eq!(never, ("<a><b>".to_owned(), 1));
        let later = carried("connection = 2, after_events = 1", "cut = \"between-frames\"", &["a", "b"]);
        assert_eq!(later, ("<a><b>".to_owned(), 1));
    }
}
