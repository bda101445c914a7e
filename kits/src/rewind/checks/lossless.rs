//! When something fails, the old conversation and the new words are still there, and the user is told once.

use super::{Episode, episodes, words_of};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "lossless",
    about: "When something fails, the old lists and the new words are still there, and the user is told once.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let fails = |episode: &&Episode<'_>| {
        let has_failed = episode.has_to_fail() || episode.may_fail() && episode.done().is_none();
        episode.stays().is_some() && has_failed
    };
    for episode in episodes(story).iter().filter(fails) {
        let name = episode.name();
        let Some(edit) = episode.edits.first() else { continue };
        examined.fact(episode.done().is_none(), || format!("{name}: an edit that fails is told as done"));
        examined.fact(episode.is_unchanged(), || format!("{name}: the lists are not what they were"));
        let words = words_of(edit);
        let draft = episode.after["snapshot"]["draft"].as_str();
        examined.fact(draft == Some(words), || {
            let kept = draft.map_or_else(|| "nothing".to_owned(), |kept| format!("{kept:?}"));
            format!("{name}: the new words are {words:?}, and what is kept of them is {kept}")
        });
        let may_ask = episode.model_fails() || episode.may_fail();
        examined.fact(may_ask || episode.asked.is_empty(), || format!("{name}: the model was asked"));
        let notices = episode.notices.len();
        examined.fact(notices == 1, || format!("{name}: the user was told {notices} times"));
    }
    examined
}
