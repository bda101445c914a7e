//! Which event comes before which. Two releases never send quite the same events, so what both have is compared, by the
//! place where it comes first in a turn of a session; declared floats have no place, and how often something is said
//! again is told as a smaller thing.

use super::super::report::{Change, Findings, Source};
use super::super::rule::Rule;
use super::Seen;
use fixtures::floats::Floats;
use fixtures::transcript::StreamTranscript;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The events of a turn, by stream, session and number of the turn.
type Turns = BTreeMap<(String, String, usize), Vec<String>>;

/// Compares the turns of all streams.
pub(super) fn compare(old: &Seen, new: &Seen, floats: &Floats, findings: &mut Findings) {
    let (one, two) = (turns(&old.transcript.streams, floats), turns(&new.transcript.streams, floats));
    for (key, before) in &one {
        let Some(after) = two.get(key) else { continue };
        let (stream, session, turn) = key;
        let mut push = |rule, place: String, was: String, is: String| {
            let reaches = vec![old.name.clone()];
            let (old, new, source) = (Some(was), Some(is), Source::Recordings);
            findings.push(Change { rule, source, place, old, new, reaches });
        };
        let (firsts, seconds) = (common(before, after), common(after, before));
        let kept = longest_common(&firsts, &seconds);
        for label in firsts.iter().filter(|label| !kept.contains(label.as_str())) {
            if let Some((passed, was, is)) = passed(label, &kept, &firsts, &seconds) {
                let (old, new) = (format!("{was} {passed}"), format!("{is} {passed}"));
                push(Rule::OrderTurned, format!("event {label}"), old, new);
            }
        }
        if kept.len() == firsts.len() && before.len() != after.len() {
            let count = |events: &[String]| match events.len() {
                1 => "1 event".to_owned(),
                more => format!("{more} events"),
            };
            let place = format!("{session}, turn {turn}, on {stream}");
            push(Rule::SequenceOther, place, count(before), count(after));
        }
        findings.compared.paths += firsts.len();
    }
}

/// An event that stays where it was and that another one has passed, the nearest in NEW.
fn passed<'a>(
    label: &str,
    kept: &BTreeSet<String>,
    one: &'a [String],
    two: &[String],
) -> Option<(&'a str, &'static str, &'static str)> {
    let at = |order: &[String], label: &str| order.iter().position(|other| other == label);
    let (was, is) = (at(one, label)?, at(two, label)?);
    let turned = one.iter().enumerate().filter_map(|(before, other)| {
        let after = at(two, other)?;
        let is_turned = kept.contains(other) && (before < was) != (after < is);
        is_turned.then_some((after.abs_diff(is), before < was, other))
    });
    let (_, was_behind, other) = turned.min_by_key(|(distance, ..)| *distance)?;
    Some(if was_behind { (other, "after", "before") } else { (other, "before", "after") })
}

/// The events of each session, cut where a prompt is told of, without repetition.
fn turns(streams: &[StreamTranscript], floats: &Floats) -> Turns {
    let mut turns = Turns::new();
    for stream in streams {
        let mut prompts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for event in &stream.events {
            if floats.float_of(event).is_some() || floats.environment_of(event).is_some() {
                continue;
            }
            let Some(session) = session(event) else { continue };
            let info = &event["properties"]["info"];
            let told = prompts.entry(session.to_owned()).or_default();
            if event["type"] == "message.updated" && info["role"] == "user" {
                told.extend(info["id"].as_str().map(str::to_owned));
            }
            let turn = turns.entry((stream.name.clone(), session.to_owned(), told.len())).or_default();
            let label = label(event);
            if turn.last() != Some(&label) {
                turn.push(label);
            }
        }
    }
    turns
}

fn session(event: &Value) -> Option<&str> {
    let pointers = ["/sessionID", "/info/sessionID", "/part/sessionID", "/info/id"];
    pointers.iter().find_map(|pointer| event["properties"].pointer(pointer)?.as_str())
}

/// What an event is: its type, and what it is about where that makes another event of it.
fn label(event: &Value) -> String {
    let properties = &event["properties"];
    let mut label = event["type"].as_str().unwrap_or_default().to_owned();
    for pointer in ["/info/role", "/part/type", "/part/state/status", "/status/type"] {
        if let Some(word) = properties.pointer(pointer).and_then(Value::as_str) {
            label.push(' ');
            label.push_str(word);
        }
    }
    label
}

/// What both have, in the order in which it comes first here.
fn common(events: &[String], others: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    events.iter().filter(|label| others.contains(label) && seen.insert(*label)).cloned().collect()
}

/// What need not be moved to turn one order into the other: a longest common subsequence.
fn longest_common(one: &[String], two: &[String]) -> BTreeSet<String> {
    let mut lengths = vec![vec![0_usize; two.len() + 1]; one.len() + 1];
    for (i, a) in one.iter().enumerate().rev() {
        for (j, b) in two.iter().enumerate().rev() {
            lengths[i][j] =
                if a == b { lengths[i + 1][j + 1] + 1 } else { lengths[i + 1][j].max(lengths[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut kept) = (0, 0, BTreeSet::new());
    while i < one.len() && j < two.len() {
        if one[i] == two[j] {
            kept.insert(one[i].clone());
            (i, j) = (i + 1, j + 1);
        } else if lengths[i + 1][j] >= lengths[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    kept
}
