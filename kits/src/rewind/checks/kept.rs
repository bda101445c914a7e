//! The next request to the model holds the turns before the edited one, whole, then the edited one, and no word of those
//! that are gone.

use super::{Episode, carries, episodes, messages, pictures, text_of, texts, words_of};
use crate::kit::Check;
use crate::story::{Seen, Story};
use harness::checks::Examined;
use serde_json::{Value, json};

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
            && !episode.may_fail()
        {
            let why = edit.result().map(|result| result["error"].to_string()).unwrap_or_default();
            examined
                .fact(false, || format!("{}: an edit that could be done is refused: {why}", episode.name()));
        }
        let words = episode.done().map(words_of).or(episode.said_behind());
        let (Some(words), Some((_, stays))) = (words, episode.stays()) else { continue };
        let before = texts(&episode.told["model"]);
        let (kept, gone) = before.split_at(stays.min(before.len()));
        for asked in episode.asked.iter().filter(|asked| carries(asked, words)) {
            let told: Vec<&str> = messages(asked).into_iter().map(text_of).collect();
            let told = &told[..told.len().saturating_sub(1)];
            // A server adds words of its own to what is said.
            let is_it = |told: &str, kept: &str| match episode.is_on_server() {
                true => told.contains(kept),
                false => told == kept,
            };
            let is_so =
                told.len() == kept.len() && told.iter().zip(kept).all(|(told, kept)| is_it(told, kept));
            examined.fact(is_so, || {
                format!(
                    "{}: the model is told {told:?} before the edited words, and {kept:?} stays",
                    episode.name()
                )
            });
            if is_so && !episode.is_on_server() {
                roles_and_pictures(&episode, asked, &mut examined);
            }
            // What stays may say the same as what is gone.
            let stays = |gone: &str| kept.iter().chain([&words]).any(|stays| stays.contains(gone));
            let mut gone = gone.iter().filter(|gone| !gone.trim().is_empty() && !stays(gone));
            let told_still = gone.find(|gone| says(asked, gone));
            examined.fact(told_still.is_none(), || {
                let words = told_still.copied().unwrap_or_default();
                format!("{}: the model is still told {words:?}, and that turn is gone", episode.name())
            });
        }
    }
    examined
}

/// Are these words told somewhere, whoever is said to have said them?
fn says(asked: &Seen, words: &str) -> bool {
    let messages = asked.value["messages"].as_array().into_iter().flatten();
    let texts = messages.flat_map(|message| match &message["content"] {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        content => Vec::from_iter(content.as_str()),
    });
    texts.into_iter().any(|text| text.contains(words))
}

/// Answers are the model's own words, all else is what it was told; and whoever had pictures has them still.
fn roles_and_pictures(episode: &Episode<'_>, asked: &Seen, examined: &mut Examined) {
    let entries = episode.told["model"].as_array().into_iter().flatten();
    let entries = entries.filter(|entry| entry["says"] != "checkpoint");
    let told = messages(asked);
    // The last one is the edited one.
    for (message, entry) in told[..told.len().saturating_sub(1)].iter().zip(entries) {
        let role = if entry["says"] == "answer" { "assistant" } else { "user" };
        examined.fact(message["role"] == role, || {
            let said = text_of(message);
            format!("{}: {said:?} is told under {}, and its role is {role}", episode.name(), message["role"])
        });
        let had: Vec<&Value> = entry["images"].as_array().into_iter().flatten().collect();
        let told = pictures(message);
        examined.fact(told == had, || {
            let said = text_of(message);
            let (told, had) = (json!(told), json!(had));
            format!("{}: {said:?} is told with the pictures {told}, and it had {had}", episode.name())
        });
    }
}
