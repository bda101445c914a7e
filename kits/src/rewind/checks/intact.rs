//! What an edit leaves behind is whole: another task; and on a server a conversation that was copied, one whose edit failed,
//! and one in which going back was taken back.

use super::{episodes, texts};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "intact",
    about: "A conversation that was copied for an edit, and another task or conversation, are as they were; after an edit that failed, and after \
            going back was taken back, the model is told all of it.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for episode in episodes(story).iter().filter(|episode| !episode.told["beside"].is_null()) {
        for list in ["user", "model"] {
            let before = texts(&episode.told["beside"][list]);
            let now = texts(&episode.after["beside"][list]);
            examined.fact(now == before, || {
                format!(
                    "{}: in another task the list of the {list} is {now:?}, and it was {before:?}",
                    episode.name()
                )
            });
        }
    }
    for episode in episodes(story).iter().filter(|episode| episode.after["anotherAsks"].is_boolean()) {
        examined.fact(episode.after["anotherAsks"] == true, || {
            let name = episode.name();
            format!("{name}: another conversation of the server asks for leave, and somebody else has answered that")
        });
    }
    for (episode, seen) in episodes(story).iter().zip(story.seen_of("intact")) {
        let before = texts(&episode.told["user"]);
        let now = texts(&seen.value["list"]);
        let is_so =
            now.len() == before.len() && now.iter().zip(&before).all(|(now, then)| now.contains(then));
        examined.fact(is_so, || {
            let what = seen.value["name"].as_str().unwrap_or_default();
            format!("{}: {what} is {now:?}, and it was {before:?}", episode.name())
        });
    }
    examined
}
