//! After a kill both lists are the old ones or both the new, the files are as old as they are, and the new words are
//! somewhere; an edit that was done is done, also for who was closed and opened again.

use super::{Episode, episodes, words_of};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "persisted",
    about: "After a kill both lists are the old ones or both the new, the files with them, and the new words are not lost; of an edit \
            that was done all is new, after a kill and when the client is closed and opened again.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    // Of an edit that has failed `lossless` asks, however the client was opened again.
    let is_asked =
        |episode: &&Episode<'_>| episode.was_killed() || episode.was_reopened() && episode.done().is_some();
    for episode in episodes(story).iter().filter(is_asked) {
        let (Some(edit), Some(_)) = (episode.edits.first(), episode.stays()) else { continue };
        let (name, words) = (episode.name(), words_of(edit));
        let is_new = ["user", "model"].iter().all(|list| episode.is_edited(list, words));
        let is_old = ["user", "model"].iter().all(|list| episode.list(list) == episode.before(list));
        let told = || {
            let [user, model] = ["user", "model"].map(|list| episode.list(list));
            format!("{name}: the user sees {user:?}, and the model has {model:?}")
        };
        examined.fact(is_new || is_old, told);
        if !episode.told["checkpoints"].is_null() {
            let is_of_one_age = is_new && episode.has_new_tree() || is_old && episode.has_old_tree();
            examined.fact(is_of_one_age, || {
                let lists = if is_new { "new" } else { "old" };
                let files = match (episode.has_old_tree(), episode.has_new_tree()) {
                    (true, _) => "old",
                    (_, true) => "new",
                    _ => "neither old nor new",
                };
                format!("{name}: after a restart the lists are {lists}, and the files are {files}")
            });
        }
        let is_kept = is_new || episode.after["snapshot"]["draft"] == words;
        examined.fact(is_kept, || format!("{name}: the new words are lost"));
        // What was told as done is on the disk.
        if episode.done().is_some() {
            let answer = episode.told["answer"].as_str().unwrap_or_default();
            let has_answer =
                |list| episode.list(list).last().is_some_and(|last: &&str| last.contains(answer));
            let is_whole = is_new && ["user", "model"].into_iter().all(has_answer);
            examined.fact(is_whole, || format!("{name}: the edit was done, and {}", told()));
        }
    }
    examined
}
