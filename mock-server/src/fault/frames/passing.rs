//! A frame on its way through the faults: what is left of it, what goes out around it, and how that is written.

use super::{Beat, Due, lines};
use crate::fault::Ending;
use crate::performer::Frame;
use bytes::Bytes;
use fixtures::fault_plan::StreamName;
use fixtures::sse;
use serde_json::Value;
use std::cell::OnceCell;

/// A frame on its way.
pub(super) struct Passing<'f> {
    /// As the server sent it.
    pub(super) frame: &'f Frame,
    pub(super) stream: StreamName,
    sent: OnceCell<Option<Value>>,
    /// What is left of it; nothing when it is lost.
    pub(super) bytes: Option<Bytes>,
    /// How often it goes out beside the first time.
    pub(super) copies: u32,
    /// Where it is split.
    pub(super) places: Vec<usize>,
    /// How long it waits between the pieces.
    pub(super) pause_between: Option<u64>,
    before: Vec<Beat>,
    after: Vec<Beat>,
    pub(super) later: Vec<(u64, Bytes)>,
    /// How the stream ends with it.
    pub(super) end: Option<Ending>,
    /// So many milliseconds lie between heartbeats from now on.
    pub(super) beat_every: Option<u64>,
}

impl<'f> Passing<'f> {
    pub(super) fn new(frame: &'f Frame, stream: StreamName) -> Self {
        Self {
            frame,
            stream,
            sent: OnceCell::new(),
            bytes: Some(frame.bytes.clone()),
            copies: 0,
            places: Vec::new(),
            pause_between: None,
            before: Vec::new(),
            after: Vec::new(),
            later: Vec::new(),
            end: None,
            beat_every: None,
        }
    }

    /// The event as the server sent it, without its envelope.
    pub(super) fn sent(&self) -> Option<&Value> {
        let read = || Some(unwrapped(self.stream, read_event(&self.frame.bytes)?));
        self.sent.get_or_init(read).as_ref()
    }

    /// The session that it is about.
    pub(super) fn session(&self) -> Option<&str> {
        session_of(self.sent()?)
    }

    /// The permission that it asks for.
    pub(super) fn asked_permission(&self) -> Option<String> {
        let is_question = &*self.frame.kind == "permission.asked";
        self.sent().filter(|_| is_question)?["properties"]["id"].as_str().map(str::to_owned)
    }

    /// What is left of the event, its envelope included.
    pub(super) fn event(&self) -> Option<Value> {
        read_event(self.bytes.as_ref()?)
    }

    /// What is left of the event, without its envelope.
    pub(super) fn said(&self) -> Option<Value> {
        Some(unwrapped(self.stream, self.event()?))
    }

    /// Puts another event, its envelope included, in its place.
    pub(super) fn replace(&mut self, event: &Value) {
        let is_in_lines = self.bytes.as_ref().is_some_and(|bytes| lines::of_data(bytes).count() > 1);
        self.write(&if is_in_lines { format!("{event:#}") } else { event.to_string() });
    }

    /// Puts another text in the place of its data. What other faults have put around it stays.
    pub(super) fn write(&mut self, data: &str) {
        self.bytes = self.bytes.take().map(|bytes| Bytes::from(lines::with_data(&bytes, data)));
    }

    /// Alters what is left of the event.
    pub(super) fn alter(&mut self, change: impl FnOnce(&mut Value)) {
        let Some(mut wire) = self.event() else { return };
        match (self.stream, wire.get_mut("payload")) {
            (StreamName::GlobalEvent, Some(payload)) => change(payload),
            _ => change(&mut wire),
        }
        self.replace(&wire);
    }

    /// Puts bytes before it, or behind it.
    pub(super) fn put(&mut self, bytes: Bytes, due: Due) {
        self.side(due).push(Beat::Frame(bytes));
    }

    /// Waits before it, or behind it.
    pub(super) fn pause(&mut self, ms: u64, due: Due) {
        self.side(due).push(Beat::Pause(ms));
    }

    fn side(&mut self, due: Due) -> &mut Vec<Beat> {
        if due == Due::Behind { &mut self.after } else { &mut self.before }
    }

    /// Nothing goes out behind it.
    pub(super) fn is_last(&mut self) {
        self.after.clear();
    }

    /// The places after each so many bytes.
    pub(super) fn every(&self, bytes: usize) -> Vec<usize> {
        let length = self.bytes.as_ref().map_or(0, Bytes::len);
        (1..).map(|nth| nth * bytes).take_while(|at| *at < length).collect()
    }

    pub(super) fn into_beats(self) -> Vec<Beat> {
        let mut beats = self.before;
        beats.extend(self.beat_every.map(Beat::BeatEvery));
        if let Some(bytes) = self.bytes.filter(|bytes| !bytes.is_empty()) {
            for _ in 0..=self.copies {
                pieces(&bytes, &self.places, self.pause_between, &mut beats);
            }
        }
        beats.extend(self.after);
        beats.extend(self.end.map(Beat::End));
        beats
    }
}

fn pieces(bytes: &Bytes, places: &[usize], pause: Option<u64>, beats: &mut Vec<Beat>) {
    let mut places: Vec<usize> = places.iter().copied().filter(|at| (1..bytes.len()).contains(at)).collect();
    places.sort_unstable();
    places.dedup();
    if places.is_empty() {
        beats.push(Beat::Frame(bytes.clone()));
        return;
    }
    let mut from = 0;
    for (nth, to) in places.into_iter().chain([bytes.len()]).enumerate() {
        if nth > 0 {
            beats.extend(pause.map(Beat::Pause));
        }
        beats.push(Beat::Chunk(bytes.slice(from..to)));
        from = to;
    }
}

/// The event of a frame that has one.
fn read_event(bytes: &[u8]) -> Option<Value> {
    let frame = sse::Parser::new().feed(bytes).into_iter().next()?;
    serde_json::from_str(&frame.data).ok()
}

fn unwrapped(stream: StreamName, wire: Value) -> Value {
    match wire {
        Value::Object(mut fields) if stream == StreamName::GlobalEvent => {
            fields.remove("payload").unwrap_or(Value::Object(fields))
        }
        wire => wire,
    }
}

/// The message that an event is about, or a part of it.
pub(super) fn message_of(event: &Value) -> Option<&str> {
    let properties = &event["properties"];
    let places = [&properties["messageID"], &properties["part"]["messageID"]];
    let itself =
        Some(&properties["info"]["id"]).filter(|id| id.as_str().is_some_and(|id| id.starts_with("msg_")));
    places.into_iter().chain(itself).find_map(Value::as_str)
}

/// The part that an event is about.
pub(super) fn part_of(event: &Value) -> Option<&str> {
    let properties = &event["properties"];
    [&properties["partID"], &properties["part"]["id"]].into_iter().find_map(Value::as_str)
}

/// The session that an event is about.
pub(super) fn session_of(event: &Value) -> Option<&str> {
    let properties = &event["properties"];
    let places = [
        &properties["sessionID"],
        &properties["info"]["sessionID"],
        &properties["part"]["sessionID"],
        &event["data"]["sessionID"],
    ];
    let about_itself =
        Some(&properties["info"]["id"]).filter(|id| id.as_str().is_some_and(|id| id.starts_with("ses_")));
    places.into_iter().chain(about_itself).find_map(Value::as_str)
}
