//! When the edited message is sent, the tree is the checkpoint's, and it stays so.

use super::episodes;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "tree",
    about: "When the edited message is sent, the tree is the checkpoint's; after a kill it is old or new.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for episode in episodes(story).iter().filter(|episode| episode.told["unasked"] == true) {
        for tree in episode.asked.iter().map(|asked| &asked.value["tree"]).chain([&episode.after["tree"]]) {
            let other = episode.other_than_before(tree);
            examined.fact(other.is_none(), || {
                let file = other.unwrap_or_default();
                let (was, is) = (&episode.told["tree"][&file], &tree[&file]);
                format!(
                    "{}: nobody has asked for the files, and {file} was {was} and is {is}",
                    episode.name()
                )
            });
        }
    }
    for episode in episodes(story).iter().filter(|episode| !episode.told["checkpoints"].is_null()) {
        let name = episode.name();
        if episode.was_killed() {
            // Half-way is neither.
            let is_whole = episode.has_old_tree() || episode.has_new_tree();
            examined.fact(is_whole, || {
                let other = episode.what_is_other(&episode.after["tree"]);
                format!("{name}: after a kill the tree is neither old nor new; it is not the checkpoint's: {other}")
            });
            continue;
        }
        if episode.done().is_none() {
            // Nothing was asked for that could not be done: then the files are as they were, too.
            if episode.has_to_fail() {
                let other = episode.other_than_before(&episode.after["tree"]);
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
        // What was wrong when the words were sent, and is so still, is told once.
        let mut seen: Vec<&Value> = Vec::new();
        for tree in trees {
            if seen.contains(&tree) {
                examined.facts += 1;
                continue;
            }
            seen.push(tree);
            examined.fact(episode.is_a_checkpoint(tree), || {
                format!("{name}: the tree is not the checkpoint's: {}", episode.what_is_other(tree))
            });
        }
    }
    examined
}
