//! Recordings of the same scenarios with two releases: what was sent, in which shape, in which order and how fast.
//!
//! * [`shape`] — fields, their types and the words in them, of events and of answers.
//! * [`answers`] — statuses and content types, request by request.
//! * [`order`] — which event comes before which in a turn of a session.
//! * [`cadence`] — heartbeats, and the pieces that a text comes in.

mod answers;
mod cadence;
mod order;
mod shape;
#[cfg(test)]
mod tests;

use super::report::Findings;
use super::source::PairOfRecordings;
use fixtures::catalog;
use fixtures::floats::Floats;
use fixtures::recording::{HowEnded, Recording};
use fixtures::transcript::Transcript;
use fixtures::transcript::unfolded::{Timed, Unfolded, unfolded};
use serde_json::Value;

const HEARTBEAT: &str = "server.heartbeat";

/// A recording as it is compared.
pub(super) struct Seen {
    name: String,
    transcript: Transcript,
    streams: Vec<Unfolded>,
}

impl Seen {
    fn of(name: &str, recording: &Recording, floats: &Floats) -> Self {
        let mut streams = unfolded(recording);
        streams.iter_mut().for_each(|stream| leave_out_chance(&mut stream.events, floats));
        Self { name: name.to_owned(), transcript: Transcript::of(recording), streams }
    }
}

/// Leaves out what comes or does not come as the machine is: declared environment, and the record that follows it.
/// Heartbeats stay: how often they come is compared.
fn leave_out_chance(events: &mut Vec<Timed>, floats: &Floats) {
    let mut left_out = false;
    events.retain(|timed| {
        let is_record = left_out && kind(&timed.event) == "sync";
        let environment = floats.environment_of(payload(&timed.event));
        let is_chance = environment.is_some_and(|environment| environment.optional);
        left_out = is_chance && kind(&timed.event) != HEARTBEAT;
        !left_out && !is_record
    });
}

/// Compares recordings of the same names.
pub(super) fn compare(pairs: &[PairOfRecordings], findings: &mut Findings) {
    let mut seen = Vec::new();
    for PairOfRecordings { name, old, new } in pairs {
        let floats = match catalog::floats(old.header.server) {
            Ok(floats) => floats,
            Err(error) => {
                findings.could_not(format!("recording {name}"), error.to_string(), true);
                continue;
            }
        };
        let (first, second) = (Seen::of(name, old, &floats), Seen::of(name, new, &floats));
        if let Some(why) = incomparable((old, &first), (new, &second)) {
            findings.could_not(format!("recording {name}"), why, true);
            continue;
        }
        for (side, recording, seen) in [("OLD", old, &first), ("NEW", new, &second)] {
            if let Some(why) = not_whole(recording, seen) {
                findings.could_not(format!("the rest of {name} of {side}"), why, true);
            }
        }
        findings.compared.recordings += 1;
        answers::compare(&first, &second, findings);
        order::compare(&first, &second, &floats, findings);
        seen.push((first, second));
    }
    if !seen.is_empty() {
        shape::compare(&seen, findings);
        cadence::compare(&seen, findings);
    }
}

/// Why two recordings tell nothing about their releases.
fn incomparable((old, first): (&Recording, &Seen), (new, second): (&Recording, &Seen)) -> Option<String> {
    if old.header.scenario != new.header.scenario {
        return Some(format!("OLD shows '{}', NEW '{}'", old.header.scenario, new.header.scenario));
    }
    let id = |recording: &Recording| recording.header.provenance.scenario_id.clone();
    if let (Some(one), Some(two)) = (id(old), id(new))
        && one != two
    {
        return Some(format!("the scenario's file was another one, {one:.8} and {two:.8}: record it again"));
    }
    (first.transcript.person != second.transcript.person)
        .then(|| "the person did not do the same in both: record it again".to_owned())
}

/// Why something is missing in a recording.
fn not_whole(recording: &Recording, seen: &Seen) -> Option<String> {
    if recording.torn {
        return Some("its last line is torn".to_owned());
    }
    let is_broken =
        |stream: &&Unfolded| matches!(stream.ended, Some(HowEnded::Cut | HowEnded::Reset | HowEnded::Broken));
    let broken = seen.streams.iter().find(is_broken)?;
    Some(format!("the stream {} broke", broken.stream.path()))
}

/// An event without its wrapper.
fn payload(event: &Value) -> &Value {
    event.get("payload").unwrap_or(event)
}

fn kind(event: &Value) -> &str {
    payload(event)["type"].as_str().unwrap_or_default()
}

/// What was asked, with the path's ids left out: `GET /session/{}/message`.
fn operation(exchange: &Value) -> String {
    let request = &exchange["request"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let path = text(&request["path"]);
    let parts = path.split('/').map(|part| if is_free(part) { "{}" } else { part });
    format!("{} {}", text(&request["method"]), parts.collect::<Vec<_>>().join("/"))
}

/// Is this a name that somebody gave, and not one of the protocol's?
fn is_free(name: &str) -> bool {
    !name.chars().all(|c| c.is_ascii_alphanumeric() || "_$-.".contains(c)) || name.contains("${")
}

/// Is this a word, and not somebody's text?
fn is_word(text: &str) -> bool {
    text.len() <= 48
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}
