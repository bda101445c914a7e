//! Puts an event into the stream that the server never sent: of another session, of no session, of a type that no
//! client knows yet.

use bytes::Bytes;
use fixtures::sse;
use serde_json::Value;

/// The event as a frame.
pub(super) fn frame(event: &Value) -> Bytes {
    Bytes::from(sse::encode(&event.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::carried;

    #[test]
    fn an_event_is_put_before_the_next_frame_and_counts_for_nobody() {
        let inject = "inject = { type = \"x\" }";
        let x = "data: {\"type\":\"x\"}\n\n";
        assert_eq!(carried("after_events = 1", inject, &["a", "b"]), (format!("<a>{x}<b>"), 0));
        assert_eq!(
            carried("after_event = \"x\"", inject, &["a", "x", "b", "c"]),
            (format!("<a><x>{x}<b><c>"), 0),
            "once, and after the server's own event"
        );
    }
}
