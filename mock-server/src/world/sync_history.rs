//! `POST /sync/history`: what sessions have told so far, for somebody who wants to catch up.

use super::routes::body_of;
use super::{ApiRequest, World};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// So much is remembered of it; the oldest goes first. The real servers keep all in their database.
const BYTES: usize = 64 << 20;

/// What the sessions have told, the oldest first.
#[derive(Debug, Default)]
pub(super) struct SyncHistory {
    told: VecDeque<Told>,
    bytes: usize,
}

#[derive(Debug)]
struct Told {
    session: String,
    seq: u64,
    /// The event as the history has it, as text: it is rarely asked for, and smaller so.
    event: String,
}

impl SyncHistory {
    pub(super) fn remember(&mut self, session: &str, seq: u64, event: &Value) {
        let told = Told { session: session.to_owned(), seq, event: event.to_string() };
        self.bytes += told.event.len();
        self.told.push_back(told);
        while self.bytes > BYTES
            && let Some(oldest) = self.told.pop_front()
        {
            self.bytes -= oldest.event.len();
        }
    }

    /// The session is deleted.
    pub(super) fn forget(&mut self, session: &str) {
        self.told.retain(|told| told.session != session);
        self.bytes = self.told.iter().map(|told| told.event.len()).sum();
    }

    /// What somebody does not know yet who knows each of these sessions up to a number.
    fn behind(&self, known: &Value) -> Vec<Value> {
        let is_new = |told: &&Told| known[&told.session].as_u64().is_none_or(|until| told.seq > until);
        let mut new: Vec<&Told> = self.told.iter().filter(is_new).collect();
        new.sort_by_key(|told| told.seq);
        new.iter().filter_map(|told| serde_json::from_str(&told.event).ok()).collect()
    }
}

impl World {
    pub(super) fn sync_history(&mut self, request: &ApiRequest) {
        let events = self.told.behind(&body_of(request));
        self.reply_json(request.ticket, Value::Array(events));
    }

    /// An event of a session, in the words of its history; the kind is told with its version.
    pub(in crate::world) fn remember_told(
        &mut self,
        session: &str,
        seq: u64,
        id: &str,
        kind: &str,
        data: &Value,
    ) {
        let event = json!({"id": id, "aggregate_id": session, "seq": seq, "type": kind, "data": data});
        self.told.remember(session, seq, &event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seqs(history: &SyncHistory, known: &Value) -> Vec<Value> {
        history.behind(known).into_iter().map(|event| event["n"].clone()).collect()
    }

    #[test]
    fn who_knows_a_part_is_told_the_rest_in_the_order_of_its_numbers() {
        let mut history = SyncHistory::default();
        for (n, (session, seq)) in [("a", 0), ("a", 1), ("b", 0), ("b", 1)].into_iter().enumerate() {
            history.remember(session, seq, &json!({"n": n}));
        }
        assert_eq!(seqs(&history, &json!({})), [0, 2, 1, 3]);
        assert_eq!(seqs(&history, &json!({"a": 0})), [2, 1, 3]);
        assert_eq!(seqs(&history, &json!({"a": 1, "c": 7})), [2, 3]);
        history.forget("a");
        assert_eq!(seqs(&history, &json!({})), [2, 3]);
    }

    #[test]
    fn the_oldest_goes_when_it_is_too_much() {
        let mut history = SyncHistory::default();
        let long = "x".repeat(BYTES / 2);
        for n in 0..3 {
            history.remember("a", n, &json!({"n": n, "long": long}));
        }
        assert_eq!(seqs(&history, &json!({})), [2]);
    }
}
