//! When the edited message is sent, the tree is the checkpoint's, and it stays so.

use super::super::play::LATE_FILE;
use super::{Episode, episodes};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::{Map, Value, json};

pub(super) const CHECK: Check = Check {
    name: "tree",
    about: "When the edited message is sent, the tree is the checkpoint's; after a kill it is old or new.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for episode in episodes(story).iter().filter(|episode| !episode.told["checkpoints"].is_null()) {
        let name = episode.name();
        if episode.was_killed() {
            // Half-way is neither.
            let tree = &episode.after["tree"];
            let is_whole = other_than_before(episode, tree).is_none() || is_a_checkpoint(episode, tree);
            examined
                .fact(is_whole, || format!("{name}: after a kill the tree is {tree}, neither old nor new"));
            continue;
        }
        if episode.done().is_none() {
            // Nothing was asked for that could not be done: then the files are as they were, too.
            if episode.has_to_fail() {
                let other = other_than_before(episode, &episode.after["tree"]);
                examined.fact(other.is_none(), || {
                    let file = other.unwrap_or_default();
                    let holds = &episode.after["tree"][&file];
                    format!(
                        "{name}: after a failure {file} holds {holds}, and held {}",
                        episode.told["tree"][&file]
                    )
                });
            }
            continue;
        }
        let trees = episode.asked.iter().map(|asked| &asked.value["tree"]).chain([&episode.after["tree"]]);
        for tree in trees {
            examined.fact(is_a_checkpoint(episode, tree), || {
                let right: Vec<&Value> = episode.restores().iter().map(|state| &state["tree"]).collect();
                format!("{name}: the tree is {tree}, and right is {}", json!(right))
            });
        }
    }
    examined
}

/// A file that is not as it was before the edit; but what an agent writes that does not stop is its own.
fn other_than_before(episode: &Episode<'_>, tree: &Value) -> Option<String> {
    let (before, now) = (episode.told["tree"].as_object()?, tree.as_object()?);
    let is_other = |name: &&String| before.get(*name) != now.get(*name) && *name != LATE_FILE;
    before.keys().chain(now.keys()).find(is_other).cloned()
}

/// What the user has changed himself may stay where it is.
fn is_a_checkpoint(episode: &Episode<'_>, tree: &Value) -> bool {
    let mut own: Map<String, Value> = tree.as_object().cloned().unwrap_or_default();
    own.remove("own.txt");
    let own = Value::Object(own);
    episode.restores().iter().any(|state| state["tree"] == own)
}
