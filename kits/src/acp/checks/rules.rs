//! The rules of the protocol for clients: initialise first and with the own version; absolute folders; only what the agent
//! offers; a cancel that is a notice, after which every open question is answered; lines that are messages.

use super::{Check, Examined};
use crate::acp::heard::{Message, messages};
use crate::story::Story;
use serde_json::Value;
use std::collections::BTreeMap;

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
    examined
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
