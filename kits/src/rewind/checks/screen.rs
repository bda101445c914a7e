//! What the screen was last told is what the client has.

use super::{Episode, episodes, texts};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "screen",
    about: "When all is over the screen shows the list that the client has: the edited one, or after a failure the old one.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    // What a server's client shows is its snapshot: it keeps no list beside it.
    let episodes = episodes(story);
    for episode in episodes.iter().filter(|episode| episode.may_fail()) {
        // Who shows nothing more shows nothing wrong.
        let Some(shown) = episode.screens_of_another.last() else {
            examined.fact(true, String::new);
            continue;
        };
        let (shown, other) = (texts(&shown.update["user"]), texts(&episode.told["beside"]["user"]));
        examined.fact(shown == other, || {
            format!("{}: another task is open, and the screen shows {shown:?}", episode.name())
        });
    }
    let is_plain =
        |episode: &&Episode<'_>| !episode.was_killed() && !episode.is_on_server() && !episode.may_fail();
    for episode in episodes.iter().filter(is_plain) {
        let shown = episode.screens.last().map(|told| texts(&told.update["user"]));
        // Nothing was shown, and nothing has changed.
        if shown.is_none() && episode.done().is_none() {
            continue;
        }
        let now = episode.list("user");
        examined.fact(shown.as_ref() == Some(&now), || match &shown {
            Some(shown) => format!("{}: the screen shows {shown:?}, and the list is {now:?}", episode.name()),
            None => format!("{}: the screen was never told of the edit", episode.name()),
        });
    }
    examined
}
