//! What is shown in a chat was said, and what is asked there was asked, in its session: nothing of another chat, and nothing
//! of a session that nobody opened.

use super::{Check, Examined};
use crate::acp::heard::{messages, requests, sessions_of, text_of};
use crate::story::Story;

pub(super) const CHECK: Check =
    Check { name: "isolation", about: "A chat shows what its own session said.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for told in story.updates_of("chatText") {
        let chat = told.update["chatId"].as_str().unwrap_or_default();
        // An agent in text has no sessions.
        let sessions = sessions_of(story, chat);
        if sessions.iter().all(|session| session.is_empty()) {
            continue;
        }
        let delta = told.update["delta"].as_str();
        // A client may show several pieces at once, or one in several.
        let said: String = messages(story)
            .filter(|message| {
                let session = message.value["params"]["sessionId"].as_str();
                !message.is_clients && session.is_some_and(|session| sessions.contains(&session))
            })
            .filter_map(|message| text_of(&message.value["params"]["update"]))
            .collect();
        let is_own = delta.is_some_and(|delta| said.contains(delta));
        examined.fact(is_own, || {
            format!(
                "{:?} is shown in the chat {chat}, and its session never said it",
                delta.unwrap_or_default()
            )
        });
    }
    questions(story, &mut examined);
    examined
}

/// The person is asked where the agent asks.
fn questions(story: &Story<'_>, examined: &mut Examined) {
    let asked = requests(story, false);
    for told in story.updates_of("chatPermission") {
        let chat = told.update["chatId"].as_str().unwrap_or_default();
        let sessions = sessions_of(story, chat);
        if sessions.iter().all(|session| session.is_empty()) {
            continue;
        }
        let is_own = asked.iter().any(|question| {
            question.asked.method() == Some("session/request_permission")
                && question.asked.value["params"]["sessionId"]
                    .as_str()
                    .is_some_and(|of| sessions.contains(&of))
        });
        examined.fact(is_own, || {
            format!("the person is asked in the chat {chat}, and its session has never asked for anything")
        });
    }
}
