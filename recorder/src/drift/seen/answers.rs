//! What requests are answered with: the same requests in the same order, so the first `GET /session/{}` of one is
//! compared with the first of the other.

use super::super::report::{Change, Findings, Source};
use super::super::rule::Rule;
use super::{Seen, operation};
use serde_json::Value;
use std::collections::BTreeMap;

/// Compares statuses and content types.
pub(super) fn compare(old: &Seen, new: &Seen, findings: &mut Findings) {
    let (one, two) = (by_operation(old), by_operation(new));
    for (operation, answers) in &one {
        let Some(others) = two.get(operation) else { continue };
        let mut push = |rule, before: &str, after: &str| {
            findings.push(Change {
                rule,
                source: Source::Recordings,
                place: operation.clone(),
                old: Some(before.to_owned()),
                new: Some(after.to_owned()),
                reaches: vec![old.name.clone()],
            });
        };
        for (before, after) in answers.iter().zip(others) {
            let ((status, kind), (new_status, new_kind)) = (before, after);
            if status != new_status {
                push(Rule::StatusOther, status, new_status);
            } else if essence(kind) != essence(new_kind) {
                push(Rule::MediaGone, kind, new_kind);
            } else if kind != new_kind {
                push(Rule::HeaderOther, kind, new_kind);
            }
        }
        findings.compared.paths += 1;
    }
}

/// Status and content type of each answer, streams among them.
fn by_operation(seen: &Seen) -> BTreeMap<String, Vec<(String, String)>> {
    let heads = seen.transcript.streams.iter().map(|stream| &stream.head);
    let mut all: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for exchange in seen.transcript.exchanges.iter().chain(heads) {
        let response = &exchange["response"];
        if response.is_null() {
            continue;
        }
        let kind = response["headers"]["content-type"].as_str().unwrap_or("no type");
        let status = match &response["status"] {
            Value::Number(status) => status.to_string(),
            _ => "none".to_owned(),
        };
        all.entry(operation(exchange)).or_default().push((status, kind.to_owned()));
    }
    all
}

fn essence(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}
