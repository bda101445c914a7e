//! Speaks as another release does.

use super::passing::Passing;
use fixtures::fault_plan::action::DialectWord;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What has been heard that the dialect needs.
#[derive(Debug)]
pub(super) struct Dialect {
    pub(super) which: DialectWord,
    /// The parts as far as they have come, by id.
    parts: BTreeMap<String, Value>,
    /// How many twins each session has had.
    twins: BTreeMap<String, u64>,
}

/// What has a twin.
const DOUBLED: &[&str] = &[
    "session.created",
    "session.updated",
    "session.deleted",
    "message.updated",
    "message.removed",
    "message.part.updated",
    "message.part.removed",
];

impl Dialect {
    pub(super) fn new(which: DialectWord) -> Self {
        Self { which, parts: BTreeMap::new(), twins: BTreeMap::new() }
    }

    pub(super) fn apply(&mut self, passing: &mut Passing<'_>) {
        let kind = passing.frame.kind.clone();
        match (self.which, &*kind) {
            (DialectWord::NoDeltas, "message.part.delta") | (DialectWord::NoTwins, "sync") => {
                passing.bytes = None;
            }
            (DialectWord::NoDirectory, _) => {
                if let Some(Value::Object(mut wire)) = passing.event()
                    && wire.contains_key("payload")
                {
                    wire.shift_remove("directory");
                    passing.replace(&Value::Object(wire));
                }
            }
            (DialectWord::DeltaInPart, "message.part.updated") => {
                if let Some(part) = passing.sent().map(|event| event["properties"]["part"].clone())
                    && let Some(id) = part["id"].as_str()
                {
                    self.parts.insert(id.to_owned(), part);
                }
            }
            (DialectWord::DeltaInPart, "message.part.delta") => self.delta_in_part(passing),
            (DialectWord::Twins, kind) if DOUBLED.contains(&kind) => self.twin(passing),
            _ => {}
        }
    }

    fn delta_in_part(&mut self, passing: &mut Passing<'_>) {
        let parts = &mut self.parts;
        passing.alter(|event| {
            let properties = &event["properties"];
            let Some(part) = properties["partID"].as_str().and_then(|id| parts.get_mut(id)) else { return };
            let (field, delta) =
                (properties["field"].as_str().unwrap_or("text"), properties["delta"].clone());
            let text =
                format!("{}{}", part[field].as_str().unwrap_or_default(), delta.as_str().unwrap_or_default());
            part[field] = json!(text);
            event["type"] = json!("message.part.updated");
            event["properties"] = json!({"part": part, "delta": delta});
        });
    }

    /// The event stands behind its twin, as where both are told.
    fn twin(&mut self, passing: &mut Passing<'_>) {
        let Some(event) = passing.sent().cloned() else { return };
        let Some(session) = super::passing::session_of(&event).map(str::to_owned) else { return };
        let number = self.twins.entry(session.clone()).or_default();
        let kind = format!("{}.1", event["type"].as_str().unwrap_or_default());
        let said = json!({"id": event["id"], "type": kind, "seq": *number, "aggregateID": session, "data": event["properties"]});
        *number += 1;
        let twin = json!({"type": "sync", "syncEvent": said, "id": event["id"]});
        let wire = match passing.event() {
            Some(Value::Object(mut wire)) if wire.contains_key("payload") => {
                wire["payload"] = twin;
                Value::Object(wire)
            }
            _ => twin,
        };
        let bytes = bytes::Bytes::from(fixtures::sse::encode(&wire.to_string()));
        passing.put(bytes, super::Due::Behind);
    }
}
