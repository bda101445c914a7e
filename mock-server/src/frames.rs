//! Events and subscriptions of the world → frames, and who gets them.

use crate::performer::{Act, Audience, Frame};
use crate::world::{Event, Subscription};
use bytes::Bytes;
use fixtures::fault_plan::StreamName;
use serde_json::{Value, json};
use std::sync::Arc;

/// The heartbeat of the next generation.
pub(crate) const COMMENT: &str = ": heartbeat\n\n";

/// Answers a request with a stream.
pub(crate) fn open(ticket: u64, subscription: Subscription) -> Act {
    let Subscription { stream, of, hello } = subscription;
    let kind = hello.first().and_then(|event| event["type"].as_str()).unwrap_or_default();
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

/// An event as the next generation tells it; what is of the server itself is not told there.
pub(crate) fn send_next(event: &Event) -> Option<Act> {
    let kind = event.payload["type"]
        .as_str()
        .filter(|kind| !UNTOLD.iter().any(|family| kind.starts_with(family)))?;
    if event.directory == "global" {
        return None;
    }
    let mut wire = json!({"id": event.payload["id"], "type": kind});
    if let Some(durable) = &event.durable {
        wire["durable"] = durable.clone();
    }
    wire["location"] = json!({"directory": event.directory});
    wire["data"] = event.data.clone().unwrap_or_else(|| event.payload["properties"].clone());
    Some(Act::Send(Audience { stream: StreamName::NextEvent, directory: None }, frame(&wire, &wire)))
}

/// Sends an event to those who hear it.
pub(crate) fn send(event: &Event) -> Vec<Act> {
    let mut acts = Vec::with_capacity(2);
    let directory = Some(Arc::from(event.directory.as_str()));
    if event.on_event {
        let to = Audience { stream: StreamName::Event, directory };
        acts.push(Act::Send(to, frame(&event.payload, &event.payload)));
    }
    let wrapped = match &event.project {
        Some(project) => json!({"directory": event.directory, "project": project, "payload": event.payload}),
        None => json!({"directory": event.directory, "payload": event.payload}),
    };
    let to = Audience { stream: StreamName::GlobalEvent, directory: None };
    acts.push(Act::Send(to, frame(&event.payload, &wrapped)));
    acts
}

/// An event as it is on the wire.
pub(crate) fn frame(event: &Value, wire: &Value) -> Frame {
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    Frame { kind: Arc::from(kind), bytes: Bytes::from(fixtures::sse::encode(&wire.to_string())) }
}
