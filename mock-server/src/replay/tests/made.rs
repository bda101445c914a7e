//! Made-up recordings of a few requests, and what was told to whom in between.

use super::recording;
use fixtures::recording::Recording;
use serde_json::{Value, json};
use std::path::Path;

/// Something that was recorded.
pub(in crate::replay) enum Step {
    /// Somebody asked for a stream, by its path and query, and it was opened.
    Listens(&'static str),
    /// A request with `POST`: the path, the body, the status and body of the answer.
    Asks(&'static str, Value, u16, Value),
    /// A path that is read, and what is answered.
    Reads(&'static str, Value),
    /// An event of this name to whoever was the n-th to listen.
    Tells(usize, &'static str, Value),
}

/// What was recorded while these came one after the other.
pub(in crate::replay) fn made(steps: &[Step]) -> Recording {
    let mut lines = vec![json!({"header": recording("text/plain").header})];
    let mut listeners = Vec::new();
    let frame = |exchange: usize, number: usize, kind: &str, properties: &Value| {
        let event = json!({"id": format!("evt_{number}"), "type": kind, "properties": properties});
        json!({"chunk": {"exchange": exchange, "text": format!("data: {event}\n\n")}})
    };
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Listens(asked) => {
                let (path, query) = asked.split_once('?').unwrap_or((asked, ""));
                let request = json!({"exchange": number, "method": "GET", "path": path, "query": query});
                lines.push(json!({"request": request}));
                lines.push(json!({"response": {"exchange": number, "status": 200}}));
                lines.push(frame(number, number, "server.connected", &json!({})));
                listeners.push(number);
            }
            Step::Asks(path, body, status, answer) => {
                let body = json!({"json": body});
                let request = json!({"exchange": number, "method": "POST", "path": path, "body": body});
                let challenge = (*status == 401).then(|| json!(["www-authenticate", "Basic"]));
                let mut headers = vec![json!(["content-type", "application/json"])];
                headers.extend(challenge);
                let answer = json!({"json": answer});
                let response =
                    json!({"exchange": number, "status": status, "headers": headers, "body": answer});
                lines.push(json!({"request": request}));
                lines.push(json!({"response": response}));
            }
            Step::Reads(path, answer) => {
                let headers = json!([["content-type", "application/json"]]);
                let body = json!({"json": answer});
                let response = json!({"exchange": number, "status": 200, "headers": headers, "body": body});
                lines.push(json!({"request": {"exchange": number, "method": "GET", "path": path}}));
                lines.push(json!({"response": response}));
            }
            Step::Tells(listener, kind, properties) => {
                lines.push(frame(listeners[*listener], number, kind, properties));
            }
        }
    }
    for (at_us, line) in lines.iter_mut().enumerate().skip(1) {
        line.as_object_mut().unwrap().values_mut().for_each(|told| told["at_us"] = json!(at_us));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Recording::parse(Path::new("made.jsonl"), &text).unwrap()
}
