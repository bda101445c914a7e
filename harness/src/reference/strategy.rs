//! The seams: decisions of the adapter that public clients get wrong. A mutant replaces one of them.

use crate::protocol::Permission;
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
    /// How long to wait, unscaled, after `failures` attempts in a row have failed; `None` is for ever.
    fn delay_ms(&self, failures: u32) -> Option<u64>;
    /// Is there no sense in trying again after this status?
    fn gives_up_on(&self, status: u16) -> bool;
}

/// Decides whose an event is.
pub trait Routing: Send {
    /// The sessions that get an event. `ours` are those of the tasks, in the order of the tasks' names; what is
    /// given to another one is not shown.
    fn sessions_of(&self, event: &Value, ours: &[&str]) -> Vec<String>;
}

/// What to do with a delta of a text whose beginning was never seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnHeadless {
    /// Show nothing of it until the whole text comes.
    Wait,
    /// Show what there is.
    Show,
}

/// Decides what becomes of text without a beginning.
pub trait Deltas: Send {
    /// A delta came, and the text before it is not known.
    fn on_headless(&self) -> OnHeadless;
}

/// What to do about an event of a type that the adapter has never heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnUnknown {
    /// Count it and go on.
    Count,
    /// End the program, as an error does that nobody catches.
    Die,
}

/// Decides what becomes of unknown events.
pub trait UnknownEvents: Send {
    /// An event of this type came.
    fn on_unknown(&self, kind: &str) -> OnUnknown;
}

/// Decides what becomes of questions, and of the answers to them, after a gap.
pub trait Questions: Send {
    /// What the person is asked after a refresh: the server `listed` some, the screen showed those `before` it.
    fn after_refresh(&self, listed: Vec<Permission>, before: &[Permission]) -> Vec<Permission>;
    /// The server has taken an answer, and its event about that was lost: is the answer sent again?
    fn answers_again(&self) -> bool;
}

/// All the seams.
pub struct Strategies {
    /// After a gap.
    pub gap: Box<dyn GapPolicy>,
    /// Between streams.
    pub backoff: Box<dyn Backoff>,
    /// For each event.
    pub routing: Box<dyn Routing>,
    /// For text without a beginning.
    pub deltas: Box<dyn Deltas>,
    /// For events that nobody knows.
    pub unknown: Box<dyn UnknownEvents>,
    /// For questions after a gap.
    pub questions: Box<dyn Questions>,
}

impl Default for Strategies {
    /// Those of the reference adapter.
    fn default() -> Self {
        Self {
            gap: Box::new(AlwaysRefresh),
            backoff: Box::new(Doubling),
            routing: Box::new(BySession),
            deltas: Box::new(WholeText),
            unknown: Box::new(CountUnknown),
            questions: Box::new(ServerDecides),
        }
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
    fn delay_ms(&self, failures: u32) -> Option<u64> {
        // 2^6 × 50 ms is beyond the cap already, so the shift can't overflow.
        Some((50_u64 << failures.min(6)).min(2000))
    }

    fn gives_up_on(&self, status: u16) -> bool {
        matches!(status, 401 | 403)
    }
}

/// By `sessionID`, at the top or where older releases nested it; an event without one is nobody's.
#[derive(Debug, Clone, Copy)]
pub struct BySession;

impl Routing for BySession {
    fn sessions_of(&self, event: &Value, _ours: &[&str]) -> Vec<String> {
        let about_session = event["type"].as_str().is_some_and(|kind| kind.starts_with("session."));
        let properties = &event["properties"];
        [&properties["sessionID"], &properties["info"]["sessionID"], &properties["part"]["sessionID"]]
            .into_iter()
            .chain(about_session.then(|| &properties["info"]["id"]))
            .find_map(Value::as_str)
            .map(str::to_owned)
            .into_iter()
            .collect()
    }
}

/// A text is shown from its beginning on, or not yet.
#[derive(Debug, Clone, Copy)]
pub struct WholeText;

impl Deltas for WholeText {
    fn on_headless(&self) -> OnHeadless {
        OnHeadless::Wait
    }
}

/// Servers grow; what is new to this adapter is counted and logged.
#[derive(Debug, Clone, Copy)]
pub struct CountUnknown;

impl UnknownEvents for CountUnknown {
    fn on_unknown(&self, _kind: &str) -> OnUnknown {
        OnUnknown::Count
    }
}

/// Only what the server waits for is asked, and an answer that it took is not sent again.
#[derive(Debug, Clone, Copy)]
pub struct ServerDecides;

impl Questions for ServerDecides {
    fn after_refresh(&self, listed: Vec<Permission>, _before: &[Permission]) -> Vec<Permission> {
        listed
    }

    fn answers_again(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_delay_doubles_up_to_two_seconds() {
        let delays: Vec<u64> = (0..9).filter_map(|failures| Doubling.delay_ms(failures)).collect();
        assert_eq!(delays, [50, 100, 200, 400, 800, 1600, 2000, 2000, 2000]);
        assert_eq!(Doubling.delay_ms(u32::MAX), Some(2000));
    }

    #[test]
    fn a_session_is_found_at_every_place_and_only_there() {
        for event in [
            json!({ "type": "session.idle", "properties": { "sessionID": "ses_1" } }),
            json!({ "type": "message.updated", "properties": { "info": { "id": "msg_1", "sessionID": "ses_1" } } }),
            json!({ "type": "message.part.updated", "properties": { "part": { "sessionID": "ses_1" } } }),
            json!({ "type": "session.updated", "properties": { "info": { "id": "ses_1" } } }),
        ] {
            assert_eq!(BySession.sessions_of(&event, &["ses_2"]), ["ses_1"], "{event}");
        }
        let message = json!({ "type": "message.updated", "properties": { "info": { "id": "msg_1" } } });
        let nobody: [&str; 0] = [];
        assert_eq!(BySession.sessions_of(&message, &["ses_1"]), nobody, "the id of a message is no session");
    }
}
