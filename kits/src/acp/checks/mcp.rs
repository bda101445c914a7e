//! What servers of tools want is told in the right chat, once: a login with its whole address, if the address is safe; and
//! that a server is there, in every chat if it is no one's.

use super::{Check, Examined};
use crate::acp::heard::{messages, session_of};
use crate::story::Story;
use std::collections::BTreeSet;

pub(super) const CHECK: Check =
    Check { name: "mcp", about: "What servers of tools want is told once, in its chat.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    if !story.can.contains("kiro.mcp") {
        return examined;
    }
    let opened = story.calls_of("chat/open").filter(|call| call.result().is_some());
    let chats: BTreeSet<&str> = opened.filter_map(|call| call.params["chatId"].as_str()).collect();
    for message in messages(story).filter(|message| !message.is_clients) {
        let params = &message.value["params"];
        let what = match message.method() {
            Some("_kiro.dev/mcp/oauth_request") => "oauth",
            Some("_kiro.dev/mcp/server_initialized") => "initialized",
            _ => continue,
        };
        let url = params["authUrl"].as_str();
        for chat in &chats {
            let is_its =
                params["sessionId"].as_str().is_none_or(|session| session_of(story, chat) == Some(session));
            let is_safe = url.is_none_or(|url| url.starts_with("https://"));
            let told = story.updates_of("chatMcp").filter(|told| {
                let update = &told.update;
                update["chatId"] == *chat
                    && update["what"] == what
                    && update["server"] == params["serverName"]
                    // No address, or an empty one.
                    && update["url"].as_str().filter(|told| !told.is_empty()) == url
            });
            let (told, wanted) = (told.count(), usize::from(is_its && is_safe));
            examined.fact(told == wanted, || {
                format!(
                    "{what} of {} is told {told} times in the chat {chat}, and not {wanted}",
                    params["serverName"]
                )
            });
        }
    }
    examined
}
