//! A conversation in words: what the model is told of it that sums it up.

use super::conversation::CLEARED;
use super::session::Message;
use crate::javascript::first_units;
use serde_json::Value;

/// How many letters of a result the summary is told.
const RESULT: usize = 2_000;

/// A file in place of which a name stands.
pub(super) fn attached(file: &Value) -> String {
    let name = file["filename"].as_str().unwrap_or("file");
    format!("[Attached {}: {name}]", file["mime"].as_str().unwrap_or_default())
}

/// A message as the summary is told it.
pub(super) fn in_words(message: &Message) -> String {
    let text = |part: &Value| part["text"].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    if message.role() == "user" {
        let texts = message.parts.iter().filter(|part| part["type"] == "text" && part["ignored"] != true);
        let said: Vec<String> = texts.filter_map(text).collect();
        let files = message.parts.iter().filter(|part| part["type"] == "file").map(attached);
        let said = (!said.is_empty()).then(|| format!("[User]: {}", said.join("\n")));
        return said.into_iter().chain(files).collect::<Vec<String>>().join("\n");
    }
    let mut lines = Vec::new();
    for part in &message.parts {
        match part["type"].as_str() {
            Some("text") => lines.extend(text(part).map(|text| format!("[Assistant]: {text}"))),
            Some("reasoning") => {
                lines.extend(text(part).map(|text| format!("[Assistant reasoning]: {text}")))
            }
            Some("tool") => lines.extend(call_in_words(part)),
            _ => {}
        }
    }
    lines.join("\n")
}

fn call_in_words(part: &Value) -> Vec<String> {
    let state = &part["state"];
    let call =
        format!("[Assistant tool call]: {}({})", part["tool"].as_str().unwrap_or_default(), state["input"]);
    let word = |key: &str| state[key].as_str().unwrap_or_default();
    match word("status") {
        "completed" if state.pointer("/time/compacted").is_some() => {
            vec![call, format!("[Tool result]: {CLEARED}")]
        }
        "completed" => {
            let files = state["attachments"].as_array().into_iter().flatten().map(attached);
            let output: Vec<String> = std::iter::once(word("output").to_owned()).chain(files).collect();
            let output = output.join("\n");
            let shown = first_units(&output, RESULT);
            let end = if shown.len() < output.len() { "\n[truncated]" } else { "" };
            vec![call, format!("[Tool result]: {shown}{end}")]
        }
        "error" => vec![call, format!("[Tool error]: {}", word("error"))],
        _ => vec![call],
    }
}
