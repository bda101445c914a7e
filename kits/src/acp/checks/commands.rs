//! The commands that the person sees are those that the agent told last.

use super::{Check, Examined};
use crate::acp::heard::{messages, session_of};
use crate::story::Story;
use serde_json::{Value, json};

pub(super) const CHECK: Check =
    Check { name: "commands", about: "The last list of commands is the one that is shown.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    // Who shows no lists shows no wrong one.
    if !story.can.contains("kiro.commands") && story.updates_of("chatCommands").next().is_none() {
        return examined;
    }
    for call in story.calls_of("chat/open").filter(|call| call.result().is_some()) {
        let chat = call.params["chatId"].as_str().unwrap_or_default();
        let session = session_of(story, chat).unwrap_or_default();
        let lists = messages(story).filter(|message| message.value["params"]["sessionId"] == session);
        let last =
            lists.filter(|message| !message.is_clients).filter_map(|message| list(message.value)).last();
        let Some(last) = last else { continue };
        let of_chat = story.updates_of("chatCommands").filter(|told| told.update["chatId"] == chat);
        let shown = of_chat.last().map(|told| told.update["names"].clone());
        examined.fact(shown.as_ref() == Some(&last), || {
            format!("the agent's commands in {chat} are {last}, and shown is {}", json!(shown))
        });
    }
    examined
}

/// The names of a list of commands.
fn list(message: &Value) -> Option<Value> {
    let params = &message["params"];
    let commands = match message["method"].as_str()? {
        "_kiro.dev/commands/available" => &params["commands"],
        "session/update" if params["update"]["sessionUpdate"] == "available_commands_update" => {
            &params["update"]["availableCommands"]
        }
        _ => return None,
    };
    Some(commands.as_array()?.iter().map(|command| command["name"].clone()).collect())
}
