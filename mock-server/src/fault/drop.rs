//! Loses one event of a stream that stays open, as a server does whose queue for a slow reader is full.

use crate::performer::Frame;

/// Is this frame the one that is lost?
pub(super) fn hits(kind: &str, due: bool, frame: &Frame) -> bool {
    due && *frame.kind == *kind
}

#[cfg(test)]
mod tests {
    use super::super::testing::carried;

    #[test]
    fn the_next_event_of_the_type_is_lost_and_no_other() {
        for (when, kinds, expected) in [
            ("after_events = 1", &["b", "a", "b", "b"][..], ("<b><a><b>", 0)),
            ("after_event = \"b\"", &["b", "b", "b"], ("<b><b>", 0)),
            ("after_events = 3", &["b", "b"], ("<b><b>", 1)),
        ] {
            assert_eq!(carried(when, "drop = \"b\"", kinds), (expected.0.to_owned(), expected.1), "{when}");
        }
    }
}
