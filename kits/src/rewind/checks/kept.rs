//! The next request to the model holds the turns before the edited one, whole, then the edited one.

use super::{carries, episodes, messages, text_of, texts, words_of};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "kept",
    about: "After an edit the model is told the turns before it, whole, then the edited one, and nothing else.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for episode in episodes(story) {
        // Nothing stood against the edit: to refuse it is no care.
        if let (None, Some(_), [edit, ..]) = (episode.done(), episode.stays(), &episode.edits[..])
            && !episode.was_killed()
            && !episode.has_to_fail()
        {
            let why = edit.result().map(|result| result["error"].to_string()).unwrap_or_default();
            examined
                .fact(false, || format!("{}: an edit that could be done is refused: {why}", episode.name()));
        }
        let (Some(edit), Some((_, stays))) = (episode.done(), episode.stays()) else { continue };
        let words = words_of(edit);
        let before = texts(&episode.told["model"]);
        let kept = &before[..stays.min(before.len())];
        for asked in episode.asked.iter().filter(|asked| carries(asked, words)) {
            let told: Vec<&str> = messages(asked).into_iter().map(text_of).collect();
            let told = &told[..told.len().saturating_sub(1)];
            let is_so =
                told.len() == kept.len() && told.iter().zip(kept).all(|(told, kept)| told.contains(kept));
            examined.fact(is_so, || {
                format!(
                    "{}: the model is told {told:?} before the edited words, and {kept:?} stays",
                    episode.name()
                )
            });
        }
    }
    examined
}
