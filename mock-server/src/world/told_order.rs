//! In which order the fields of a part stand where events tell it: clients print events as they come. Kilo tells a part as
//! it is listed; OpenCode has an order for each kind, and another one for a call once it runs.

use super::World;
use fixtures::ServerKind;
use serde_json::{Map, Value};

/// Of OpenCode's parts, by their kind; what is not named stands behind.
const PARTS: &[(&str, &[&str])] = &[
    ("text", &["id", "messageID", "sessionID", "type", "text", "time"]),
    ("reasoning", &["id", "messageID", "sessionID", "type", "text", "time"]),
    ("step-start", &["id", "messageID", "sessionID", "snapshot", "type"]),
    ("step-finish", &["id", "reason", "snapshot", "messageID", "sessionID", "type", "tokens", "cost"]),
    ("patch", &["type", "hash", "files", "id", "sessionID", "messageID"]),
    ("compaction", &["type", "auto", "id", "sessionID", "messageID"]),
    ("tool", &["type", "tool", "callID", "state", "id", "sessionID", "messageID"]),
];
/// A call that nobody performs yet.
const NEW_CALL: &[&str] = &["id", "messageID", "sessionID", "type", "tool", "callID", "state"];
/// What a person says.
const SAID: &[&str] = &["type", "text", "messageID", "sessionID", "id"];
/// What is said for a person.
const SAID_FOR: &[&str] = &["type", "id", "messageID", "sessionID", "text", "synthetic"];
const CACHE: &[&str] = &["write", "read"];
const DONE: &[&str] = &["status", "input", "output", "metadata", "title", "time"];
const GOES_ON: &[&str] = &["title", "metadata", "status", "input", "time"];
/// What a change of a file tells of it, on either server.
const CHANGE: &[&str] = &["diagnostics", "filepath", "exists", "diff", "filediff"];

impl World {
    /// A part as events have it; `is_said` where the message is the person's.
    pub(super) fn as_told(&self, mut part: Value, is_said: bool) -> Value {
        if let Some(metadata) = part.pointer_mut("/state/metadata").filter(|told| told.get("diff").is_some())
        {
            arrange(metadata, CHANGE);
        }
        if self.profile.server == ServerKind::Opencode {
            arrange_of_opencode(&mut part, is_said);
        }
        part
    }
}

fn arrange_of_opencode(part: &mut Value, is_said: bool) {
    let kind = part["type"].as_str().unwrap_or_default();
    let order = match kind {
        "text" if is_said && part.get("synthetic").is_some() => SAID_FOR,
        "text" if is_said => SAID,
        "tool" if part["state"]["status"] == "pending" => NEW_CALL,
        kind => PARTS.iter().find(|(of, _)| *of == kind).map_or(&[][..], |(_, order)| order),
    };
    arrange(part, order);
    if let Some(cache) = part.pointer_mut("/tokens/cache") {
        arrange(cache, CACHE);
    }
    if let Some(state) = part.get_mut("state") {
        match state["status"].as_str() {
            Some("completed") => arrange(state, DONE),
            Some("running") if state.get("metadata").is_some() => arrange(state, GOES_ON),
            _ => {}
        }
    }
}

/// Puts these fields first, in this order.
fn arrange(value: &mut Value, order: &[&str]) {
    let Value::Object(fields) = value else { return };
    let mut arranged = Map::with_capacity(fields.len());
    for key in order {
        if let Some(field) = fields.get_mut(*key) {
            arranged.insert((*key).to_owned(), field.take());
        }
    }
    arranged.extend(std::mem::take(fields).into_iter().filter(|(key, _)| !order.contains(&key.as_str())));
    *fields = arranged;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_named_stands_first_and_nothing_is_lost() {
        let mut part = json!({
            "id": "p", "sessionID": "s", "messageID": "m", "type": "tool", "callID": "c", "tool": "t", "more": 1,
            "state": {"status": "completed", "input": {}, "output": "", "title": "", "metadata": {}, "time": {}},
        });
        let before = part.clone();
        arrange_of_opencode(&mut part, false);
        assert_eq!(part, before);
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(keys(&part), "type tool callID state id sessionID messageID more");
        assert_eq!(keys(&part["state"]), "status input output metadata title time");
    }
}
