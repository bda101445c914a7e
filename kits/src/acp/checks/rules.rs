//! The rules of the protocol for clients: initialise first and with the own version; absolute folders; only what the agent
//! offers; a cancel that is a notice, which reaches the session that is meant and no other; lines that are messages.

use super::{Check, Examined};
use crate::acp::heard::{Message, messages, session_of, sessions_of};
use crate::story::Story;
use serde_json::Value;
use std::collections::BTreeMap;

/// A chat begins so.
const OPENS: [&str; 2] = ["chat/open", "chat/restore"];

pub(super) const CHECK: Check =
    Check { name: "rules", about: "The client keeps to the protocol's rules.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let mut agents: BTreeMap<u64, Vec<Message<'_>>> = BTreeMap::new();
    for message in messages(story) {
        agents.entry(message.agent).or_default().push(message);
    }
    for (agent, said) in agents {
        // One in text has rules of its own.
        if said.iter().any(|message| message.value.is_object()) {
            judge(&mut examined, agent, &said);
        }
    }
    folders(story, &mut examined);
    stops(story, &mut examined);
    pictures(story, &mut examined);
    examined
}

/// A session works in a folder that the person has named.
fn folders(story: &Story<'_>, examined: &mut Examined) {
    let plain = |folder: &Value| folder.as_str().map(|folder| folder.trim_end_matches('/').to_owned());
    let named: Vec<String> = story.calls.iter().filter_map(|call| plain(&call.params["cwd"])).collect();
    for made in
        messages(story).filter(|message| message.is_clients && message.method() == Some("session/new"))
    {
        let Some(folder) = plain(&made.value["params"]["cwd"]) else { continue };
        examined.fact(named.contains(&folder), || {
            format!("a session is to work in {folder}, and the person has named {}", named.join(", "))
        });
    }
}

/// How the data of a picture begins that is a PNG, as they all are; of what is long a history keeps its length alone.
const PNG: [&str; 2] = ["iVBORw0KGgo", "<"];

/// A picture that is taken from the person reaches the agent as one.
fn pictures(story: &Story<'_>, examined: &mut Examined) {
    for call in story.calls_of("chat/sendImage").filter(|call| call.result().is_some()) {
        let chat = call.params["chatId"].as_str().unwrap_or_default();
        let Some(session) = session_of(story, chat) else { continue };
        let sent = messages(story).find(|message| {
            message.is_clients
                && message.at.line > call.at.line
                && message.method() == Some("session/prompt")
                && message.value["params"]["sessionId"] == session
        });
        let Some(blocks) = sent.and_then(|sent| sent.value["params"]["prompt"].as_array()) else { continue };
        let is_picture = blocks.iter().any(|block| {
            block["type"] == "image"
                && block["mimeType"] == "image/png"
                && block["data"].as_str().is_some_and(|data| PNG.iter().any(|begin| data.starts_with(begin)))
        });
        examined.fact(is_picture, || format!("a PNG is sent in {chat}, and the agent gets none"));
        let caption = call.params["caption"].as_str().unwrap_or_default();
        let is_said =
            blocks.iter().filter_map(|block| block["text"].as_str()).any(|text| text.contains(caption));
        examined.fact(caption.is_empty() || is_said, || {
            format!("{caption:?} is said in {chat} beside a picture, and the agent is not told")
        });
    }
}

/// A turn that the person stops is stopped at the agent, too, and no other one is.
fn stops(story: &Story<'_>, examined: &mut Examined) {
    let told: Vec<Message<'_>> = messages(story)
        .filter(|message| message.is_clients && message.method() == Some("session/cancel"))
        .collect();
    let is_of = |message: &Message<'_>, session: &str| message.value["params"]["sessionId"] == session;
    for call in story.calls_of("chat/cancel").filter(|call| call.result().is_some()) {
        let chat = call.params["chatId"].as_str().unwrap_or_default();
        // One in text has no session, and who is idle has nothing to stop.
        let session = session_of(story, chat).filter(|_| !open_turns(story, chat, call.at.line).is_empty());
        let Some(session) = session else { continue };
        let is_told = told.iter().any(|message| message.at.line > call.at.line && is_of(message, session));
        examined.fact(is_told, || format!("the turn in {chat} is stopped, and its agent is not told"));
    }
    for message in &told {
        for call in story.calls.iter().filter(|call| OPENS.contains(&call.method.as_str())) {
            let chat = call.params["chatId"].as_str().unwrap_or_default();
            let is_of_chat = sessions_of(story, chat).into_iter().any(|session| is_of(message, session));
            // Who is asked something else in the middle of a turn may stop it for that.
            let open = open_turns(story, chat, message.at.line);
            let [turn] = open[..] else { continue };
            // What was said before the prompt was for the turn before, or for none.
            if !is_of_chat || !is_prompted(message, turn, story) {
                continue;
            }
            let mut since = story.calls.iter().filter(|call| (turn..message.at.line).contains(&call.at.line));
            let is_wanted = since.any(|call| match call.method.as_str() {
                "chat/cancel" => call.params["chatId"] == chat,
                method => ["client/stop", "shutdown"].contains(&method),
            });
            let mut ends = story.updates_of("chatDone").filter(|told| told.at.line > turn);
            // A client may give up by itself, and says so.
            let gives_up = ends
                .find(|told| told.update["chatId"] == chat)
                .is_none_or(|told| told.update["stop"] == "error");
            examined.fact(is_wanted || gives_up, || {
                format!("the turn in {chat} is stopped, and nobody wanted that")
            });
        }
    }
}

/// Has the agent of a cancel read the prompt of a turn before it?
fn is_prompted(cancel: &Message<'_>, turn: usize, story: &Story<'_>) -> bool {
    messages(story).any(|message| {
        message.is_clients
            && message.method() == Some("session/prompt")
            && (turn..cancel.at.line).contains(&message.at.line)
            && message.value["params"]["sessionId"] == cancel.value["params"]["sessionId"]
    })
}

/// The turns of a chat that have begun and not ended before a line: where each began.
fn open_turns(story: &Story<'_>, chat: &str, line: usize) -> Vec<usize> {
    let turns = story.seen_of("turn").filter(|turn| turn.value["chat"] == chat && turn.at.line < line);
    let ends =
        story.updates_of("chatDone").filter(|told| told.update["chatId"] == chat && told.at.line < line);
    turns.map(|turn| turn.at.line).skip(ends.count()).collect()
}

fn judge(examined: &mut Examined, agent: u64, said: &[Message<'_>]) {
    let mut offers = Value::Null;
    let mut is_first = true;
    for message in said {
        if !message.is_clients {
            let offered = &message.value["result"]["agentCapabilities"];
            if offered.is_object() {
                offers = offered.clone();
            }
            continue;
        }
        let value = message.value;
        let is_message = value["jsonrpc"] == "2.0";
        examined.fact(is_message, || format!("the agent {agent} is told what is no message: {value}"));
        let Some(method) = message.method() else { continue };
        if std::mem::take(&mut is_first) {
            examined.fact(method == "initialize", || {
                format!("the first request to the agent {agent} is {method}")
            });
        }
        let params = &value["params"];
        match method {
            "session/new" | "session/load" => {
                let is_absolute = params["cwd"].as_str().is_some_and(|cwd| cwd.starts_with('/'));
                examined.fact(is_absolute, || format!("{method} names no absolute folder: {params}"));
                examined.fact(params["mcpServers"].is_array(), || format!("{method} has no list of servers"));
                if method == "session/load" {
                    examined.fact(offers["loadSession"] == true, || {
                        "session/load is asked of an agent that does not offer it".to_owned()
                    });
                }
            }
            "session/cancel" => {
                examined
                    .fact(value.get("id").is_none(), || "session/cancel is asked, and not told".to_owned());
            }
            "session/prompt" => {
                let blocks = params["prompt"].as_array();
                examined.fact(blocks.is_some(), || format!("a prompt has no `prompt`: {params}"));
                let takes = offers["promptCapabilities"]["image"] == true;
                for image in blocks.into_iter().flatten().filter(|block| block["type"] == "image") {
                    examined.fact(takes, || "a picture is sent to an agent that takes none".to_owned());
                    let is_whole = image["data"].is_string() && image["mimeType"].is_string();
                    examined.fact(is_whole, || "a picture is sent without its data".to_owned());
                }
            }
            _ => {}
        }
    }
}
