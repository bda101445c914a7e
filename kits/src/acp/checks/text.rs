//! What the person reads in a chat is what the agent said there: all of it, once, in its order, and nothing else. An
//! empty answer in place of one is the worst: it looks like success.

use super::{Check, Examined, is_foreign};
use crate::story::Story;
use std::collections::BTreeMap;

pub(super) const CHECK: Check =
    Check { name: "text", about: "The person reads what the agent said, and nothing else.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let mut chats: BTreeMap<&str, Option<String>> = BTreeMap::new();
    for turn in story.seen_of("turn") {
        let chat = turn.value["chat"].as_str().unwrap_or_default();
        let all = chats.entry(chat).or_insert_with(|| Some(String::new()));
        match (turn.value["text"].as_str(), all.as_mut()) {
            (Some(text), Some(all)) => all.push_str(text),
            // What one of its turns says is not known.
            _ => *all = None,
        }
    }
    for (chat, wanted) in chats {
        let Some(wanted) = wanted else { continue };
        let of_chat = story.updates_of("chatText").filter(|told| told.update["chatId"] == chat);
        let shown: String = of_chat.filter_map(|told| told.update["delta"].as_str()).collect();
        // Who knows only the standard says that he does not understand, and never that there was nothing.
        let says_so = story
            .updates_of("chatDone")
            .any(|told| told.update["chatId"] == chat && told.update["stop"] == "error");
        if shown.is_empty() && says_so && story.seen_of("turn").all(|turn| is_foreign(story, turn)) {
            examined.fact(true, String::new);
            continue;
        }
        let brief = |text: &str| text.chars().take(200).collect::<String>();
        examined.fact(shown == wanted, || {
            format!(
                "the agent said {:?} in the chat {chat}, and shown is {:?}",
                brief(&wanted),
                brief(&shown)
            )
        });
    }
    examined
}
