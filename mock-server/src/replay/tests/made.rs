//! Made-up recordings of a few requests one after the other, and what was told after each.

use super::recording;
use fixtures::recording::Recording;
use serde_json::{Value, json};
use std::path::Path;

/// A request: its path, its body, the answer, the properties of the events that it caused.
pub(in crate::replay) type Exchange<'a> = (&'a str, Value, Value, Vec<Value>);

/// What `/event` told while these were sent, each after the answer to the one before.
pub(in crate::replay) fn made(exchanges: &[Exchange<'_>]) -> Recording {
    let header = &recording("text/plain").header;
    let mut lines = vec![
        json!({"header": header}),
        json!({"request": {"exchange": 1, "method": "GET", "path": "/event"}}),
        json!({"response": {"exchange": 1, "status": 200}}),
    ];
    for (number, (path, body, answer, events)) in exchanges.iter().enumerate() {
        let exchange = number + 2;
        lines.push(json!({"request": {"exchange": exchange, "method": "POST", "path": path, "body": {"json": body}}}));
        lines.push(json!({"response": {"exchange": exchange, "status": 200,
                                       "headers": [["content-type", "application/json"]], "body": {"json": answer}}}));
        for properties in events {
            let event =
                json!({"id": format!("evt_{}", lines.len()), "type": "made.up", "properties": properties});
            lines.push(json!({"chunk": {"exchange": 1, "text": format!("data: {event}\n\n")}}));
        }
    }
    for (at_us, line) in lines.iter_mut().enumerate().skip(1) {
        line.as_object_mut().unwrap().values_mut().for_each(|told| told["at_us"] = json!(at_us));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Recording::parse(Path::new("made.jsonl"), &text).unwrap()
}
