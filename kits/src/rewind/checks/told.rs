//! An edit that was done is not told as one that failed.

use super::episodes;
use crate::kit::Check;
use crate::story::{Call, Story};
use harness::checks::Examined;

pub(super) const CHECK: Check =
    Check { name: "told", about: "The user is not warned of an edit that was done.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    // Of two clicks the one that loses may be told so; and a restore may warn of what it has put aside.
    let is_plain = |edit: &&Call| edit.params["revert"] != true;
    for episode in episodes(story).iter().filter(|episode| episode.edits.len() == 1) {
        if episode.done().filter(is_plain).is_none() {
            continue;
        }
        // One without a level may be a mere word.
        let warnings = episode.notices.iter().filter(|told| told.update["level"].is_string());
        let words: Vec<_> = warnings.filter_map(|told| told.update["text"].as_str()).collect();
        examined.fact(words.is_empty(), || {
            format!("{}: the edit was done, and the user was warned: {words:?}", episode.name())
        });
    }
    examined
}
