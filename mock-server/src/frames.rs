//! Events and subscriptions of the world → frames, and who gets them.

use crate::performer::{Act, Audience, Frame};
use crate::world::{Event, Subscription};
use bytes::Bytes;
use fixtures::ServerKind;
use fixtures::fault_plan::StreamName;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The heartbeat of the next generation.
pub(crate) const COMMENT: &str = ": heartbeat\n\n";

/// Answers a request with a stream.
pub(crate) fn open(ticket: u64, subscription: Subscription) -> Act {
    let Subscription { stream, of, hello } = subscription;
    // Where all directories are heard, it stands in an envelope.
    let said = hello.first().map(|event| event.get("payload").unwrap_or(event));
    let kind = said.and_then(|event| event["type"].as_str()).unwrap_or_default();
    let mut bytes: Vec<u8> =
        hello.iter().flat_map(|event| fixtures::sse::encode(&event.to_string())).collect();
    if stream == StreamName::NextEvent {
        bytes.extend(COMMENT.as_bytes());
    }
    let hello = Frame { kind: Arc::from(kind), bytes: Bytes::from(bytes) };
    Act::Open(ticket, Audience { stream, directory: of.map(Arc::from) }, hello)
}

/// Families of events that the next generation does not tell: twins, the server's own, those for terminals.
const UNTOLD: &[&str] = &["sync", "server.", "tui."];
/// What Kilo does not tell there beside these.
const UNTOLD_BY_KILO: &[&str] = &["indexing.", "session.turn."];
/// What OpenCode has no words for there: its stream ends where it should tell it.
const SPEECHLESS: &str = "session.status";

/// An event as the next generation tells it; what is of the server itself is not told there.
pub(crate) fn send_next(event: &Event, server: ServerKind) -> Option<Act> {
    let more = if server == ServerKind::Kilo { UNTOLD_BY_KILO } else { &[] };
    let kind = event.payload["type"]
        .as_str()
        .filter(|kind| !UNTOLD.iter().chain(more).any(|family| kind.starts_with(family)))?;
    if event.directory == "global" {
        return None;
    }
    let to = Audience { stream: StreamName::NextEvent, directory: None };
    if server == ServerKind::Opencode && kind == SPEECHLESS {
        return Some(Act::Close(to));
    }
    let location = json!({"directory": event.directory});
    let data = event.data.as_ref().unwrap_or_else(|| &event.payload["properties"]);
    let mut wire = Map::with_capacity(5);
    wire.insert("id".to_owned(), event.payload["id"].clone());
    wire.insert("type".to_owned(), json!(kind));
    wire.extend(event.durable.clone().map(|durable| ("durable".to_owned(), durable)));
    wire.insert("location".to_owned(), location);
    wire.insert("data".to_owned(), data.clone());
    Some(Act::Send(to, frame(&Value::Object(wire))))
}

/// Sends an event to those who hear it. It is put into words once, and its envelope around the words.
pub(crate) fn send(event: &Event) -> Vec<Act> {
    let mut acts = Vec::with_capacity(2);
    let kind: Arc<str> = Arc::from(kind_of(&event.payload));
    let payload = text(&event.payload);
    if event.on_event {
        let to = Audience { stream: StreamName::Event, directory: Some(Arc::from(event.directory.as_str())) };
        acts.push(Act::Send(to, Frame { kind: kind.clone(), bytes: framed(&[&payload]) }));
    }
    let (directory, project) = (text(&event.directory), event.project.as_ref().map(text));
    let mut wrapped = vec!["{\"directory\":", &directory];
    if let Some(project) = &project {
        wrapped.extend([",\"project\":", project]);
    }
    wrapped.extend([",\"payload\":", &payload, "}"]);
    let to = Audience { stream: StreamName::GlobalEvent, directory: None };
    acts.push(Act::Send(to, Frame { kind, bytes: framed(&wrapped) }));
    acts
}

/// An event as it is on the wire.
pub(crate) fn frame(event: &Value) -> Frame {
    Frame { kind: Arc::from(kind_of(event)), bytes: framed(&[&text(event)]) }
}

/// A heartbeat where all instances are heard: it is nobody's.
pub(crate) fn global_beat(event: &Value) -> Frame {
    Frame { kind: Arc::from(kind_of(event)), bytes: framed(&["{\"payload\":", &text(event), "}"]) }
}

fn kind_of(event: &Value) -> &str {
    event.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// JSON in one line, which is all that a field of a stream may have.
fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The frame of one line.
fn framed(pieces: &[&str]) -> Bytes {
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut bytes = Vec::with_capacity(length + "data: \n\n".len());
    bytes.extend_from_slice(b"data: ");
    pieces.iter().for_each(|piece| bytes.extend_from_slice(piece.as_bytes()));
    bytes.extend_from_slice(b"\n\n");
    Bytes::from(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_begins_with_the_same_event_in_an_envelope_and_without_one() {
        let said = json!({"id": "evt_1", "type": "server.connected", "properties": {}});
        for (stream, hello) in
            [(StreamName::Event, said.clone()), (StreamName::GlobalEvent, json!({"payload": said}))]
        {
            let Act::Open(_, _, frame) = open(1, Subscription { stream, of: None, hello: vec![hello] })
            else {
                panic!("it is opened");
            };
            assert_eq!(&*frame.kind, "server.connected", "{stream:?}");
        }
    }
}
