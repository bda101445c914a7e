//! What happened, line by line or in words.

use super::{Outcome, Said, wrong};
use crate::http::core::Core;
use fixtures::recording::tell;
use std::sync::Arc;

pub(super) fn read(core: &Arc<Core>, query: &[(String, String)]) -> Outcome {
    let asked = |name: &str| query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let from = match asked("from").map(str::parse::<usize>) {
        None => 0,
        Some(Ok(from)) => from,
        Some(Err(_)) => return Err(wrong("from is the number of a line, from 0")),
    };
    let lines = core.journal.lines();
    let lines = lines.get(from..).unwrap_or_default();
    match asked("format").unwrap_or("jsonl") {
        "jsonl" => {
            let lines: Vec<String> =
                lines.iter().filter_map(|line| serde_json::to_string(line).ok()).collect();
            let mut text = lines.join("\n");
            if !text.is_empty() {
                text.push('\n');
            }
            Ok(Said::Text("application/x-ndjson", text))
        }
        "text" => Ok(Said::Text("text/plain; charset=utf-8", tell(lines))),
        other => Err(wrong(format!("there is no format '{other}'; there are jsonl and text"))),
    }
}
