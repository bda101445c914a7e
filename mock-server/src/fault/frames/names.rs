//! Names in a plan that stand for what a stream has told of: `${session}`, `${another_session}`, `${message}`, `${part}`,
//! `${directory}`.

use super::passing::{Passing, message_of, part_of, session_of};
use crate::performer::Frame;
use fixtures::fault_plan::{Action, StreamName};
use serde_json::{Value, json};

/// What a stream has told of.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The latest last.
    sessions: Vec<String>,
    /// The latest message of whomever.
    message: Option<String>,
    /// The latest part.
    part: Option<String>,
    directory: Option<String>,
}

/// Does the action speak of what a stream has told of? What is put into an envelope speaks of its directory.
pub(super) fn are_needed(action: &Action, stream: StreamName) -> bool {
    match action {
        Action::Inject(_) if stream == StreamName::GlobalEvent => true,
        Action::Inject(inject) => mentions(&inject.event),
        Action::Change(change) => change.change.values().any(mentions),
        _ => false,
    }
}

fn mentions(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("${"),
        Value::Array(items) => items.iter().any(mentions),
        Value::Object(fields) => fields.values().any(mentions),
        _ => false,
    }
}

/// Does a session begin? It is remembered for a fault that is armed later.
pub(super) fn begin_with(frame: &Frame) -> bool {
    *frame.kind == *"session.created"
}

impl Names {
    pub(super) fn note(&mut self, passing: &Passing<'_>) {
        if passing.stream == StreamName::GlobalEvent
            && let Some(directory) =
                passing.event().and_then(|wire| Some(wire["directory"].as_str()?.to_owned()))
            && directory != "global"
        {
            self.directory = Some(directory);
        }
        if let Some(message) = passing.sent().and_then(message_of) {
            self.message = Some(message.to_owned());
        }
        if let Some(part) = passing.sent().and_then(part_of) {
            self.part = Some(part.to_owned());
        }
        let Some(session) = passing.sent().and_then(session_of) else { return };
        self.sessions.retain(|known| known != session);
        self.sessions.push(session.to_owned());
    }

    /// The value with what the names stand for, if all of them stand for something. `of` is the event at hand.
    pub(super) fn filled(&self, value: &Value, of: Option<&str>) -> Option<Value> {
        Some(match value {
            Value::String(text) if text.contains("${") => json!(self.text(text, of)?),
            Value::Array(items) => items.iter().map(|item| self.filled(item, of)).collect::<Option<_>>()?,
            Value::Object(fields) => {
                let filled = fields.iter().map(|(key, value)| Some((key.clone(), self.filled(value, of)?)));
                Value::Object(filled.collect::<Option<_>>()?)
            }
            other => other.clone(),
        })
    }

    fn text(&self, text: &str, of: Option<&str>) -> Option<String> {
        let session = of.or(self.sessions.last().map(String::as_str));
        let another = self.sessions.iter().rev().find(|known| Some(known.as_str()) != session);
        let mut filled = text.to_owned();
        for (name, value) in [
            ("${session}", session),
            ("${another_session}", another.map(String::as_str)),
            ("${message}", self.message.as_deref()),
            ("${part}", self.part.as_deref()),
            ("${directory}", self.directory.as_deref()),
        ] {
            if filled.contains(name) {
                filled = filled.replace(name, value?);
            }
        }
        Some(filled)
    }

    /// An event in the envelope of the stream.
    pub(super) fn wrapped(&self, event: Value, stream: StreamName) -> Value {
        if stream != StreamName::GlobalEvent || event.get("payload").is_some() {
            return event;
        }
        let directory = self.directory.as_deref().unwrap_or("global");
        json!({"directory": directory, "payload": event})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn a_message_and_a_part_are_those_that_the_stream_told_of_last() {
        let mut names = Names::default();
        let about = json!({"message": "${message}", "part": "${part}"});
        assert_eq!(names.filled(&about, None), None);
        for properties in [
            json!({"info": {"id": "ses_1"}}),
            json!({"info": {"id": "msg_1", "sessionID": "ses_1"}}),
            json!({"part": {"id": "prt_1", "messageID": "msg_1", "sessionID": "ses_1"}}),
            json!({"sessionID": "ses_1", "messageID": "msg_2", "partID": "prt_2"}),
        ] {
            let wire = json!({"type": "a", "properties": properties});
            let bytes = Bytes::from(fixtures::sse::encode(&wire.to_string()));
            let frame = Frame { kind: "a".into(), bytes };
            names.note(&Passing::new(&frame, StreamName::Event));
        }
        assert_eq!(names.filled(&about, None), Some(json!({"message": "msg_2", "part": "prt_2"})));
    }
}
