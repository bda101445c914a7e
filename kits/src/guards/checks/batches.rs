//! What is added to a batch is worked on, also after one has failed and while one is under way.

use super::text;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "batches",
    about: "Every item that was added is worked on once, also after a batch that failed.",
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
    examined
}
