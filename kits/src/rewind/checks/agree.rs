//! The user sees the turns that the model is told.

use super::{Episode, episodes, texts, words_of};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "agree",
    about: "The user sees the kept turns, then the edited one and its answer, as the model's list has them; and when a server has \
            gone back, those that are left.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (episode, gone) in episodes(story).iter().zip(story.seen_of("gone")) {
        let (Some((user, _)), now) = (episode.stays(), texts(&gone.value["user"])) else { continue };
        examined.fact(now == episode.before("user")[..user], || {
            format!(
                "{}: it has gone back, and the user sees {now:?}, of which {user} entries stay",
                episode.name()
            )
        });
    }
    for episode in episodes(story).iter().filter(|episode| !episode.was_killed()) {
        let Some(edit) = episode.done() else { continue };
        for name in ["user", "model"] {
            let Some(stays) = episode.turns_that_stay(name) else { continue };
            // A server's client has no list of the model's own.
            if episode.after["snapshot"][name].is_null() {
                continue;
            }
            examined.fact(episode.is_edited(name, words_of(edit)), || {
                let now = episode.list(name);
                format!("{}: the list of the {name} is {now:?}, and {stays} entries stay", episode.name())
            });
            same_entries(episode, name, &mut examined);
            if let Some(answer) = episode.told["answer"].as_str() {
                let is_there = episode.list(name).get(stays + 1).is_some_and(|text| text.contains(answer));
                examined.fact(is_there, || {
                    let now = episode.list(name);
                    format!(
                        "{}: the model has answered {answer:?}, and the list of the {name} is {now:?}",
                        episode.name()
                    )
                });
            }
        }
    }
    examined
}

/// What stays is what it was, and has the times that it had: by them the user points at it later.
fn same_entries(episode: &Episode<'_>, name: &str, examined: &mut Examined) {
    if episode.is_on_server() {
        return;
    }
    let turns = |list: &'_ Value| -> Vec<Value> {
        let all = list.as_array().into_iter().flatten();
        all.filter(|entry| entry["says"] != "checkpoint").cloned().collect()
    };
    let stays = episode.turns_that_stay(name).unwrap_or_default();
    let (before, now) = (turns(&episode.told[name]), turns(&episode.after["snapshot"][name]));
    for (before, now) in before.iter().take(stays).zip(&now) {
        for field in ["ts", "says"].into_iter().filter(|field| !before[field].is_null()) {
            examined.fact(before[field] == now[field], || {
                let (text, had, has) = (&before["text"], &before[field], &now[field]);
                format!(
                    "{}: in the list of the {name} {text} had `{field}` {had}, and has {has}",
                    episode.name()
                )
            });
        }
    }
}
