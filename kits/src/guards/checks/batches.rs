//! What is added to a batch is worked on a moment after its first item, also after one has failed and while one is under way.

use super::{in_time, text, wanted};
use crate::kit::Check;
use crate::story::{AdapterClock, Call, Story};
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "batches",
    about: "Every item that was added is worked on once, also after a batch that failed and while one is under way; what is added at once is gathered, and a batch begins 100 ms after its first item.",
    examine,
};

/// So long after its first item a batch begins, however many come meanwhile.
const GATHERED_MS: f64 = 100.0;

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for call in story.calls_of("batch/add") {
        let item = text(&call.params["item"]);
        let of = |update: &Value| {
            update["items"].as_array().is_some_and(|items| items.contains(&call.params["item"]))
        };
        let worked = story.updates_of("batch").filter(|told| of(&told.update)).count();
        examined.fact(worked == 1, || format!("{item} was worked on {worked} times"));
    }
    begin_in_time(&mut examined, story);
    for (_, wanted) in wanted(story, "batch/add") {
        let Some(items) = wanted["together"].as_array() else { continue };
        let has_some = |update: &Value| {
            update["items"].as_array().is_some_and(|worked| items.iter().any(|item| worked.contains(item)))
        };
        let batches = story.updates_of("batch").filter(|told| has_some(&told.update)).count();
        examined.facts += 1;
        if batches >= items.len() {
            let finding =
                format!("{} items that are added at once are worked on in {batches} batches", items.len());
            // A busy machine may hand over one of them when the batch of the one before has begun.
            match story.clock {
                AdapterClock::Virtual => examined.findings.push(finding),
                AdapterClock::Scaled | AdapterClock::Real => examined.doubts.push(finding),
            }
        }
    }
    examined
}

/// Who adds while a batch is worked on may have to wait for its end: when that item's batch begins is the client's affair.
fn begin_in_time(examined: &mut Examined, story: &Story<'_>) {
    let mut busy_until_ms = 0.0_f64;
    for told in story.updates_of("batch") {
        let items = told.update["items"].as_array().map_or(&[][..], Vec::as_slice);
        let added: Vec<&Call> =
            story.calls_of("batch/add").filter(|call| items.contains(&call.params["item"])).collect();
        let Some(first_ms) = added.iter().map(|call| call.at.ms).reduce(f64::min) else { continue };
        if first_ms >= busy_until_ms {
            let took = told.at.ms - first_ms;
            in_time(examined, story, took, GATHERED_MS, || {
                format!("a batch begins {took:.0} ms after its first item, and not {GATHERED_MS:.0}")
            });
        }
        let takes = added.iter().filter_map(|call| call.params["takesMs"].as_f64()).fold(0.0, f64::max);
        busy_until_ms = busy_until_ms.max(told.at.ms + takes);
    }
}
