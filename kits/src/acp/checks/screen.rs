//! Of an agent in text no code of a terminal reaches the person, and the agent reads what the person said, once each, and
//! one letter for each question.

use super::{Check, Examined};
use crate::acp::heard::messages;
use crate::story::Story;

pub(super) const CHECK: Check = Check {
    name: "screen",
    about: "Text has no codes, and an agent in text reads what the person said.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let words: Vec<String> = messages(story)
        .filter(|message| message.is_clients)
        .filter_map(|message| message.value.as_str().map(|line| line.trim().to_owned()))
        .collect();
    if words.is_empty() {
        return examined;
    }
    for told in story.updates_of("chatText") {
        let delta = told.update["delta"].as_str().unwrap_or_default();
        examined.fact(!delta.contains('\u{1b}'), || format!("a code reaches the person: {delta:?}"));
    }
    let asked = story.updates_of("chatPermission").count();
    let letters = words.iter().filter(|word| matches!(word.as_str(), "y" | "n" | "t")).count();
    examined.fact(letters == asked, || format!("{asked} questions were answered with {letters} letters"));
    let said: Vec<&str> =
        story.calls_of("chat/send").filter_map(|call| call.params["text"].as_str()).collect();
    let read: Vec<&String> = words.iter().filter(|word| word.len() > 1).collect();
    examined.fact(read == said, || format!("the person said {said:?}, and the agent reads {read:?}"));
    examined
}
