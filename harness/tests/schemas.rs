//! Goal: a recording is as its release documents itself, but for what `fixtures/deviations` lists. Method: every answer
//! and every event of every recording is held against `/doc`; what is broken must be listed, what is listed must be
//! broken where it says. (`truth.rs` and `cases.rs` hold what the stand-in sends against the same.)
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

mod documented;

use documented::{Breach, Documented, unknown};
use fixtures::deviations::{Deviation, fits};
use fixtures::recording::{Body, Line, Recording, Response};
use fixtures::{ServerKind, catalog};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn breaches_by_recording(server: ServerKind) -> BTreeMap<String, BTreeSet<Breach>> {
    let documented = Documented::by(server);
    let release = server.release();
    let of = |name: &String| documented.breaches(&catalog::recording(&release, name).unwrap().lines);
    catalog::recording_names(&release).iter().map(|name| (name.clone(), of(name))).collect()
}

/// What an entry says and its recordings do not show.
fn unshown(entry: &Deviation, by_recording: &BTreeMap<String, BTreeSet<Breach>>) -> Vec<String> {
    let shown: Vec<&Breach> = entry
        .shown_by
        .iter()
        .flat_map(|name| by_recording.get(name).unwrap_or_else(|| panic!("no recording {name}")))
        .filter(|breach| entry.knows(&breach.at, &breach.broken))
        .collect();
    let places = entry.at.iter().filter(|at| !shown.iter().any(|breach| fits(at, &breach.at)));
    let ways = entry.breaks.iter().filter(|broken| !shown.iter().any(|breach| fits(broken, &breach.broken)));
    places.chain(ways).cloned().collect()
}

#[test]
fn recordings_break_their_documentation_where_it_is_listed_and_nowhere_else() {
    for server in ServerKind::ALL {
        let by_recording = breaches_by_recording(server);
        for (name, breaches) in &by_recording {
            assert_eq!(unknown(server, breaches), [] as [String; 0], "{server} {name}");
        }
        for entry in catalog::deviations(server).unwrap().deviations {
            assert_eq!(unshown(&entry, &by_recording), [] as [String; 0], "{server}: {}", entry.about);
        }
    }
}

/// Each line of a recording that sends something, altered.
fn altered(recording: &Recording, mut alter: impl FnMut(&mut Value) -> bool) -> Vec<(usize, Line)> {
    let mut altered = Vec::new();
    for (place, line) in recording.lines.iter().enumerate() {
        let mut line = line.clone();
        let is_altered = match &mut line {
            Line::Response(Response { body: Body::Json(value), .. }) => alter(value),
            Line::Chunk(chunk) => {
                let data = chunk.text.as_ref().and_then(|text| text.strip_prefix("data: "));
                let first = data.and_then(|data| data.split("\n\n").next());
                // A frame that is cut over two chunks stays as it is.
                let mut event = first.and_then(|data| serde_json::from_str(data).ok()).unwrap_or(Value::Null);
                let is_altered = alter(&mut event);
                chunk.text = Some(format!("data: {event}\n\n"));
                is_altered
            }
            _ => false,
        };
        if is_altered {
            altered.push((place, line));
        }
    }
    altered
}

#[test]
fn what_is_not_as_documented_is_seen() {
    for server in ServerKind::ALL {
        let documented = Documented::by(server);
        let recording = catalog::recording(&server.release(), "permission/write-allowed-once").unwrap();
        // Requests and heads of streams, without what was sent.
        let asked = |line: &&Line| match line {
            Line::Request(_) => true,
            Line::Response(response) => response.body.is_empty(),
            _ => false,
        };
        let unnamed = altered(&recording, |value| {
            let value = if value["payload"].is_object() { &mut value["payload"] } else { value };
            value.as_object_mut().is_some_and(|map| map.remove("type").or(map.remove("info")).is_some())
        });
        let untyped = altered(&recording, |value| {
            let has_part = value.pointer("/properties/part/id").is_some();
            has_part && std::mem::replace(&mut value["properties"]["part"]["id"], json!(7)).is_string()
        });
        for (altered, at_least) in [(unnamed, 60), (untyped, 10)] {
            assert!(altered.len() > at_least, "{server}: {}", altered.len());
            for (place, line) in altered {
                let before = recording.lines[..place].iter().filter(asked).cloned();
                let lines: Vec<Line> = before.chain([line]).collect();
                let broken = unknown(server, &documented.breaches(&lines));
                assert_ne!(broken, [] as [String; 0], "{server} {:?}", lines.last());
            }
        }
    }
}
