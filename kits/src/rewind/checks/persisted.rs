//! After a kill both lists are the old ones or both the new, and the new words are somewhere.

use super::{episodes, words_of};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "persisted",
    about: "After a kill both lists are the old ones or both the new, and the new words are not lost.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for episode in episodes(story).iter().filter(|episode| episode.was_killed()) {
        let (Some(edit), Some((_, _))) = (episode.edits.first(), episode.stays()) else { continue };
        let words = words_of(edit);
        let is_new = |name: &str| episode.list(name).iter().any(|text| text.contains(words));
        let is_old = |name: &str| episode.list(name) == episode.before(name);
        let agree = (is_new("user") && is_new("model")) || (is_old("user") && is_old("model"));
        examined.fact(agree, || {
            format!(
                "{}: the user sees {:?}, and the model has {:?}",
                episode.name(),
                episode.list("user"),
                episode.list("model")
            )
        });
        let is_kept = is_new("user") || episode.after["snapshot"]["draft"] == words;
        examined.fact(is_kept, || format!("{}: the new words are lost", episode.name()));
    }
    examined
}
