//! After a kill both lists are the old ones or both the new, and the new words are somewhere; an edit that was done is done.

use super::{episodes, words_of};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "persisted",
    about: "After a kill both lists are the old ones or both the new, and the new words are not lost; of an edit that was done both are \
            new.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for episode in episodes(story).iter().filter(|episode| episode.was_killed()) {
        let (Some(edit), Some(_)) = (episode.edits.first(), episode.stays()) else { continue };
        let (name, words) = (episode.name(), words_of(edit));
        let is_new = ["user", "model"].iter().all(|list| episode.is_edited(list, words));
        let is_old = ["user", "model"].iter().all(|list| episode.list(list) == episode.before(list));
        let told = || {
            let [user, model] = ["user", "model"].map(|list| episode.list(list));
            format!("{name}: the user sees {user:?}, and the model has {model:?}")
        };
        examined.fact(is_new || is_old, told);
        let is_kept = is_new || episode.after["snapshot"]["draft"] == words;
        examined.fact(is_kept, || format!("{name}: the new words are lost"));
        // What was told as done is on the disk.
        if episode.done().is_some() {
            examined.fact(is_new, || format!("{name}: the edit was done, and {}", told()));
        }
    }
    examined
}
