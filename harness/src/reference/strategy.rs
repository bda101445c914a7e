//! The seams: decisions of the adapter that public clients get wrong. A mutant replaces one of them.

use serde_json::Value;

/// Events may have been missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The stream had ended, and a new one is live.
    Reconnected,
    /// An event could not be read.
    UnreadableEvent,
}

/// What to do about a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnGap {
    /// Fetch everything and show it anew (decision 7).
    Refresh,
    /// Go on as if nothing had been missed.
    Resume,
}

/// Decides what to do after a gap.
pub trait GapPolicy: Send {
    /// Called once for each gap, if there are tasks.
    fn on_gap(&self, gap: Gap) -> OnGap;
}

/// Decides when a lost stream is opened again.
pub trait Backoff: Send {
    /// How long to wait, unscaled, after `failures` attempts in a row have failed.
    fn delay_ms(&self, failures: u32) -> u64;
    /// Is there no sense in trying again after this status?
    fn gives_up_on(&self, status: u16) -> bool;
}

/// Decides whose an event is.
pub trait Routing: Send {
    /// The session of an event; one without a session is nobody's.
    fn session_of<'a>(&self, event: &'a Value) -> Option<&'a str>;
}

/// All the seams.
pub struct Strategies {
    /// After a gap.
    pub gap: Box<dyn GapPolicy>,
    /// Between streams.
    pub backoff: Box<dyn Backoff>,
    /// For each event.
    pub routing: Box<dyn Routing>,
}

impl Default for Strategies {
    /// Those of the reference adapter.
    fn default() -> Self {
        Self { gap: Box::new(AlwaysRefresh), backoff: Box::new(Doubling), routing: Box::new(BySession) }
    }
}

/// Decision 7: any gap is a boundary; nothing is patched up.
#[derive(Debug, Clone, Copy)]
pub struct AlwaysRefresh;

impl GapPolicy for AlwaysRefresh {
    fn on_gap(&self, _gap: Gap) -> OnGap {
        OnGap::Refresh
    }
}

/// 50 ms, doubled for each failure, 2 s at most; wrong credentials end it.
#[derive(Debug, Clone, Copy)]
pub struct Doubling;

impl Backoff for Doubling {
    fn delay_ms(&self, failures: u32) -> u64 {
        // 2^6 × 50 ms is beyond the cap already, so the shift can't overflow.
        (50_u64 << failures.min(6)).min(2000)
    }

    fn gives_up_on(&self, status: u16) -> bool {
        matches!(status, 401 | 403)
    }
}

/// By `sessionID`, at the top or where older releases nested it.
#[derive(Debug, Clone, Copy)]
pub struct BySession;

impl Routing for BySession {
    fn session_of<'a>(&self, event: &'a Value) -> Option<&'a str> {
        let about_session = event["type"].as_str().is_some_and(|kind| kind.starts_with("session."));
        let properties = &event["properties"];
        [&properties["sessionID"], &properties["info"]["sessionID"], &properties["part"]["sessionID"]]
            .into_iter()
            .chain(about_session.then(|| &properties["info"]["id"]))
            .find_map(Value::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_delay_doubles_up_to_two_seconds() {
        let delays: Vec<u64> = (0..9).map(|failures| Doubling.delay_ms(failures)).collect();
        assert_eq!(delays, [50, 100, 200, 400, 800, 1600, 2000, 2000, 2000]);
        assert_eq!(Doubling.delay_ms(u32::MAX), 2000);
    }

    #[test]
    fn a_session_is_found_at_every_place_and_only_there() {
        for event in [
            json!({ "type": "session.idle", "properties": { "sessionID": "ses_1" } }),
            json!({ "type": "message.updated", "properties": { "info": { "id": "msg_1", "sessionID": "ses_1" } } }),
            json!({ "type": "message.part.updated", "properties": { "part": { "sessionID": "ses_1" } } }),
            json!({ "type": "session.updated", "properties": { "info": { "id": "ses_1" } } }),
        ] {
            assert_eq!(BySession.session_of(&event), Some("ses_1"), "{event}");
        }
        let message = json!({ "type": "message.updated", "properties": { "info": { "id": "msg_1" } } });
        assert_eq!(BySession.session_of(&message), None, "the id of a message is no session");
    }
}
