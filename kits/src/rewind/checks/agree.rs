//! The user sees the turns that the model is told.

use super::{episodes, texts, words_of};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "agree",
    about: "The user sees the kept turns, then the edited one, as the model's list has them; and when a server has gone back, those \
            that are left.",
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
        let (Some(edit), Some((user, model))) = (episode.done(), episode.stays()) else { continue };
        // Checkpoints stand between the others, and are not seen as turns.
        let entries = episode.told["user"].as_array().map_or(&[][..], Vec::as_slice);
        let user = entries.iter().take(user).filter(|entry| entry["says"] != "checkpoint").count();
        for (name, stays) in [("user", user), ("model", model)] {
            // A server's client has no list of the model's own.
            if episode.after["snapshot"][name].is_null() {
                continue;
            }
            let (before, now) = (episode.before(name), episode.list(name));
            let is_kept = now.len() > stays && now[..stays] == before[..stays.min(before.len())];
            let is_edited = now.get(stays).is_some_and(|text| text.contains(words_of(edit)));
            // One answer, and nothing of what was cut.
            let is_all = now.len() <= stays + 2;
            examined.fact(is_kept && is_edited && is_all, || {
                format!("{}: the list of the {name} is {now:?}, and {stays} entries stay", episode.name())
            });
        }
    }
    examined
}
