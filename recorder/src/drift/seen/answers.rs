//! What requests are answered with: the same requests in the same order, so the first `GET /session/{}` of one is
//! compared with the first of the other.

use super::super::report::{Change, Findings, Source};
use super::super::rule::Rule;
use super::{Seen, operation};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

const TYPE: &str = "content-type";

/// Compares statuses and headers.
pub(super) fn compare(old: &Seen, new: &Seen, findings: &mut Findings) {
    let (one, two) = (by_operation(old), by_operation(new));
    for (operation, answers) in &one {
        let Some(others) = two.get(operation) else { continue };
        let mut push = |rule, place: String, before: &str, after: &str| {
            findings.push(Change {
                rule,
                source: Source::Recordings,
                place,
                old: Some(before.to_owned()),
                new: Some(after.to_owned()),
                reaches: vec![old.name.clone()],
            });
        };
        for (before, after) in answers.iter().zip(others) {
            if before.status != after.status {
                push(Rule::StatusOther, operation.clone(), &before.status, &after.status);
                continue;
            }
            if essence(before.header(TYPE)) != essence(after.header(TYPE)) {
                push(Rule::MediaGone, operation.clone(), before.header(TYPE), after.header(TYPE));
                continue;
            }
            let names: BTreeSet<&String> = before.headers.keys().chain(after.headers.keys()).collect();
            for name in names.into_iter().filter(|name| before.header(name) != after.header(name)) {
                let place = format!("{operation} header {name}");
                push(Rule::HeaderOther, place, before.header(name), after.header(name));
            }
        }
        findings.compared.paths += 1;
    }
}

/// The head of an answer.
struct Head {
    status: String,
    headers: Map<String, Value>,
}

impl Head {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(Value::as_str).unwrap_or("none")
    }
}

/// The heads of all answers, streams among them.
fn by_operation(seen: &Seen) -> BTreeMap<String, Vec<Head>> {
    let heads = seen.transcript.streams.iter().map(|stream| &stream.head);
    let mut all: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for exchange in seen.transcript.exchanges.iter().chain(heads) {
        let response = &exchange["response"];
        if response.is_null() {
            continue;
        }
        let headers = response["headers"].as_object().cloned().unwrap_or_default();
        all.entry(operation(exchange))
            .or_default()
            .push(Head { status: response["status"].to_string(), headers });
    }
    all
}

fn essence(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}
