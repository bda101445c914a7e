//! What an edit on a server leaves behind is whole: a conversation that was copied, one whose edit failed, and one in which
//! going back was taken back.

use super::{episodes, texts};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "intact",
    about: "A conversation that was copied for an edit is as it was; after an edit that failed, and after going back was taken back, \
            the model is told all of it.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
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
