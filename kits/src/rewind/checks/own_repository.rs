//! The workspace may be a repository of the user's: whoever puts files back keeps them elsewhere.

use super::episodes;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "own-repository",
    about: "The HEAD, the index and the stash of the user's own repository are as they were.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for episode in episodes(story) {
        let (before, now) = (&episode.told["own"], &episode.after["own"]);
        for (what, was) in before.as_object().into_iter().flatten() {
            examined.fact(now[what] == *was, || {
                format!(
                    "{}: {what} of the user's own repository was {was}, and is {}",
                    episode.name(),
                    now[what]
                )
            });
        }
    }
    examined
}
