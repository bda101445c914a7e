//! A history of a kit as a time line for people: what was asked, what came of it, and what was seen.

use fixtures::recording::{Line, Speaker};
use fixtures::redact::clean;
use harness::report::timeline::{Entry, Who};
use serde_json::Value;
use std::collections::BTreeMap;

/// So much of a message is shown.
const SHOWN: usize = 160;
/// So many entries: a page of all corpora would not open any more.
const MOST: usize = 400;

/// The time line of a history.
#[must_use]
pub(crate) fn of(lines: &[Line]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut open: BTreeMap<u64, String> = BTreeMap::new();
    for line in lines {
        let (at_us, who, what) = match line {
            Line::User(line) => (line.at_us, Who::Person, line.does.clone()),
            Line::Adapter(line) => match said(line.from, &line.message) {
                Some((who, what)) => (line.at_us, who, what),
                None => continue,
            },
            Line::Request(request) => {
                let what = format!("{} {}", request.method, request.path);
                open.insert(request.exchange, what.clone());
                (request.at_us, Who::Rest, what)
            }
            Line::Response(response) => {
                let asked = open.get(&response.exchange).cloned().unwrap_or_default();
                (response.at_us, Who::Rest, format!("{asked} → {}", response.status))
            }
            Line::Model(call) => (call.at_us, Who::Model, format!("asked: {}", call.answered)),
            Line::Fault(fault) => (fault.at_us, Who::Fault, format!("fault {} {}", fault.fault, fault.did)),
            Line::Note(note) => (note.at_us, Who::Fault, note.text.clone()),
            Line::Trouble(trouble) => (trouble.at_us, Who::Trouble, trouble.what.clone()),
            _ => continue,
        };
        #[expect(clippy::cast_precision_loss, reason = "a run takes seconds, not centuries")]
        let at_ms = at_us as f64 / 1000.0;
        // It goes into reports, and quotes strangers.
        entries.push(Entry { at_ms, who, what: shortened(&clean(&what)) });
    }
    if entries.len() > MOST {
        let (left, at_ms) = (entries.len() - MOST, entries[MOST].at_ms);
        entries.truncate(MOST);
        let what = format!("… and {left} more: the history has them");
        entries.push(Entry { at_ms, who: Who::Person, what });
    }
    entries
}

/// What a line between harness and adapter says, unless it says that something was understood.
fn said(from: Speaker, message: &Value) -> Option<(Who, String)> {
    match (from, message["method"].as_str()) {
        (Speaker::Harness, Some(method)) => Some((Who::Person, format!("{method} {}", message["params"]))),
        (_, Some("update")) => Some((Who::Screen, message["params"]["update"].to_string())),
        (_, Some(method)) => Some((Who::Screen, method.to_owned())),
        (_, None) => match (message.get("error"), &message["result"]) {
            (Some(error), _) => Some((Who::Screen, format!("refuses: {}", error["message"]))),
            (None, Value::Object(empty)) if empty.is_empty() => None,
            (None, result) => Some((Who::Screen, format!("answers {result}"))),
        },
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
