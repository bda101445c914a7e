//! A chat that was kept goes on in its session; where that is gone, the person is told that it is a fresh one.

use super::{Check, Examined};
use crate::acp::heard::expected;
use crate::story::Story;
use serde_json::json;

pub(super) const CHECK: Check = Check {
    name: "restored",
    about: "A kept chat goes on, or the person is told that it does not.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (at, is_restored) in expected(story, "restored") {
        let Some(call) = story.calls_of("chat/restore").find(|call| call.at.line > at.line) else { continue };
        // A refusal tells the person, too; where it is none of the answers, that is for another check.
        if *is_restored == false && matches!(&call.answer, Some((_, Err(_)))) {
            examined.facts += 1;
            continue;
        }
        let chat = &call.params["chatId"];
        let said = call.result().map(|result| result["restored"].clone());
        examined.fact(said.as_ref() == Some(is_restored), || {
            format!("the chat {chat} is restored: {is_restored}; the client says {}", json!(said))
        });
        if *is_restored == false {
            let is_told = story
                .updates_of("chatNotice")
                .any(|told| told.update["chatId"] == *chat && told.at.line > call.at.line);
            examined.fact(is_told, || format!("the chat {chat} is a fresh one, and nobody is told"));
        }
    }
    examined
}
