//! What has begun has ended once.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "ends",
    about: "An action is told to have started, and then to have completed or failed: one of them, once, whoever listens.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "service/act") {
        let id = text(&call.params["id"]);
        let told = story.updates_of("action").filter(|told| told.update["id"] == call.params["id"]);
        let told: Vec<&str> = told.map(|told| text(&told.update["state"])).collect();
        let end = if wanted["ok"] == true { "completed" } else { "failed" };
        examined.fact(told == ["started", end], || {
            format!("{id} has to be told as started and {end}, and is told as {}", told.join(", "))
        });
    }
    examined
}
