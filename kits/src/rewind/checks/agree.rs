//! The user sees the turns that the model is told.

use super::{episodes, texts, words_of};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

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
