//! A session gets the servers of tools that were wanted for its chat, and no other chat's.

use super::{Check, Examined};
use crate::acp::heard::requests;
use crate::story::Story;
use serde_json::json;

pub(super) const CHECK: Check =
    Check { name: "servers", about: "A session gets its own servers of tools.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let requests = requests(story, true);
    let mut sessions = requests.iter().filter(|asked| asked.asked.method() == Some("session/new"));
    for call in story.calls_of("chat/open") {
        let Some(session) = sessions.next() else { continue };
        let wanted = call.params.get("mcpServers").cloned().unwrap_or_else(|| json!([]));
        let got = &session.asked.value["params"]["mcpServers"];
        examined.fact(*got == wanted, || {
            format!("the chat {} wants {wanted}, and gets {got}", call.params["chatId"])
        });
    }
    examined
}
