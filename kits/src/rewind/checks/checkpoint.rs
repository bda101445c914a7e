//! The files go back to the newest checkpoint that is not newer than the message.

use super::episodes;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::{Value, json};

pub(super) const CHECK: Check = Check {
    name: "checkpoint",
    about: "The newest checkpoint that is not newer than the message is restored; without one nothing is.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for episode in episodes(story).iter().filter(|episode| episode.told["unasked"] == true) {
        let begun = episode.seam("restore", "begin");
        examined.fact(begun.is_none(), || {
            format!("{}: nobody has asked for the files, and they are put back", episode.name())
        });
    }
    for episode in episodes(story).iter().filter(|episode| !episode.told["checkpoints"].is_null()) {
        let name = episode.name();
        let begun = episode
            .seams
            .iter()
            .filter(|told| told.update["name"] == "restore" && told.update["state"] == "begin");
        let restored: Vec<&Value> = begun.map(|told| &told.update["hash"]).collect();
        let right: Vec<&Value> = episode.restores().iter().map(|state| &state["hash"]).collect();
        let is_so = match restored[..] {
            // Who was killed may not have come there.
            [] => right.is_empty() || episode.has_to_fail() || episode.was_killed(),
            // Of its own since the first edit it may have another one of the same state, which `tree` sees.
            [one] => right.contains(&one) || episode.told["again"] == true,
            _ => false,
        };
        examined.fact(is_so, || {
            format!("{name}: {} was restored, and right is one of {}", json!(restored), json!(right))
        });
    }
    examined
}
