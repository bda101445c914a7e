//! Somebody who talks to a replay without a socket.

use crate::performer::{Act, Performer, WireReply};
use crate::replay::{Pace, Replay};
use crate::world::ApiRequest;
use fixtures::recording::Recording;
use fixtures::{ServerKind, catalog};
use serde_json::Value;

pub(in crate::replay) fn recording(name: &str) -> Recording {
    catalog::recording(&ServerKind::Kilo.release(), name).unwrap()
}

pub(in crate::replay) fn json_of(reply: &WireReply) -> Value {
    serde_json::from_slice(&reply.body).unwrap_or_default()
}

/// Somebody who talks to a replay.
pub(in crate::replay) struct Client {
    pub(in crate::replay) replay: Replay,
    tickets: u64,
    pub(in crate::replay) acts: Vec<Act>,
}

impl Client {
    pub(in crate::replay) fn of(recording: &Recording) -> Self {
        Self::at(recording, Pace::Causal)
    }

    pub(in crate::replay) fn at(recording: &Recording, pace: Pace) -> Self {
        Self { replay: Replay::new(recording, None, pace).unwrap(), tickets: 0, acts: Vec::new() }
    }

    /// Sends a request; the ticket of its answer.
    pub(in crate::replay) fn sends(&mut self, method: &str, path: &str, body: &[u8]) -> u64 {
        self.tickets += 1;
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = ApiRequest {
            ticket: self.tickets,
            method: method.to_owned(),
            path: path.to_owned(),
            query: crate::http::decode_query(query),
            directory_header: None,
            content_type: None,
            host: String::new(),
            body: bytes::Bytes::copy_from_slice(body),
            ..ApiRequest::default()
        };
        self.acts.extend(self.replay.take(request, &|| 0));
        self.tickets
    }

    /// The answer to a request, when it has come.
    pub(in crate::replay) fn answer(&self, ticket: u64) -> Option<&WireReply> {
        self.acts.iter().find_map(|act| match act {
            Act::Reply(to, reply) if *to == ticket => Some(reply),
            _ => None,
        })
    }

    pub(in crate::replay) fn post(&mut self, path: &str, body: &Value) -> (u16, Value) {
        let ticket = self.sends("POST", path, body.to_string().as_bytes());
        self.answer(ticket).map_or((0, Value::Null), |reply| (reply.status, json_of(reply)))
    }

    pub(in crate::replay) fn get(&mut self, path: &str) -> Value {
        let ticket = self.sends("GET", path, b"");
        json_of(self.answer(ticket).unwrap())
    }

    /// The types of the events that were sent on a stream.
    pub(in crate::replay) fn heard(&self, stream: &str) -> Vec<String> {
        let sent = self.acts.iter().filter_map(|act| match act {
            Act::Send(to, frame) if to.stream.path() == stream => Some(frame.kind.to_string()),
            _ => None,
        });
        sent.collect()
    }

    /// What the events say that were sent on a stream.
    pub(in crate::replay) fn data(&self, stream: &str) -> Vec<Value> {
        let sent = self.acts.iter().filter_map(|act| match act {
            Act::Send(to, frame) if to.stream.path() == stream => std::str::from_utf8(&frame.bytes).ok(),
            _ => None,
        });
        let data = sent.filter_map(|frame| frame.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data.trim_end()).unwrap()).collect()
    }
}
