//! What is added to a batch is worked on, also after one has failed and while one is under way.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::{AdapterClock, Story};
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "batches",
    about: "Every item that was added is worked on once, also after a batch that failed and while one is under way; what is added at once is gathered.",
    examine,
};

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
