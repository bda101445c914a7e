//! What an agent tells again when a session is loaded is no new output.

use super::{Check, Examined};
use crate::acp::heard::{messages, requests, text_of};
use crate::story::Story;

pub(super) const CHECK: Check =
    Check { name: "replay", about: "What a loaded session tells again is not shown as new.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for load in requests(story, true).iter().filter(|load| load.asked.method() == Some("session/load")) {
        let Some(answer) = load.answer else { continue };
        let between = |line: usize| load.asked.at.line < line && line < answer.at.line;
        let again = messages(story).filter(|message| {
            !message.is_clients
                && between(message.at.line)
                && text_of(&message.value["params"]["update"]).is_some()
        });
        if again.count() == 0 {
            continue;
        }
        // Agents and clients report on lines of their own: between them only what waits for the other has an order.
        let restore = story.calls_of("chat/restore").filter(|call| call.at.line < answer.at.line).last();
        let Some(restore) = restore else { continue };
        let chat = &restore.params["chatId"];
        let next = story.calls_of("chat/send").find(|call| call.at.line > restore.at.line);
        let until = next.map_or(usize::MAX, |call| call.at.line);
        let shown = story.updates_of("chatText").filter(|told| {
            told.update["chatId"] == *chat && restore.at.line < told.at.line && told.at.line < until
        });
        let shown = shown.count();
        examined.fact(shown == 0, || {
            format!("{shown} pieces of what was said before are shown as new in {chat}")
        });
    }
    examined
}
