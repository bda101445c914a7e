//! What agents say, in any of their dialects, as one thing; and what they are asked, in the words of the standard.

use super::Quirk;
use serde_json::{Value, json};

/// What an update tells.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Update {
    /// A piece of the answer.
    Text(String),
    /// A tool's call: its id, what it is called, how it stands.
    Tool { id: String, title: Option<String>, status: Option<String> },
    /// Which commands there are now.
    Commands(Vec<Value>),
    /// The turn is over, says an agent that has such a word.
    TurnEnd,
    /// Anything else: nothing depends on it.
    Other,
}

/// Reads an update: of the standard by `sessionUpdate`, of older designs by `type`.
pub(super) fn update(update: &Value, quirk: Quirk) -> Update {
    let text = |name: &str| update[name].as_str().map(str::to_owned);
    let kind = match (update["sessionUpdate"].as_str(), update["type"].as_str()) {
        (Some(kind), _) if !quirk.is("to-the-letter") => kind,
        (None, Some(kind)) if !quirk.is("standard-alone") => kind,
        _ => return Update::Other,
    };
    match kind {
        "agent_thought_chunk" if quirk.is("thoughts-as-words") => {
            Update::Text(update["content"]["text"].as_str().unwrap_or_default().to_owned())
        }
        "agent_message_chunk" => {
            Update::Text(update["content"]["text"].as_str().unwrap_or_default().to_owned())
        }
        "AgentMessageChunk" => Update::Text(text("content").unwrap_or_default()),
        "tool_call" | "tool_call_update" => Update::Tool {
            id: text("toolCallId").unwrap_or_default(),
            title: text("title"),
            status: text("status"),
        },
        "ToolCall" | "ToolCallUpdate" => {
            Update::Tool { id: text("id").unwrap_or_default(), title: text("name"), status: text("status") }
        }
        "available_commands_update" => {
            Update::Commands(update["availableCommands"].as_array().cloned().unwrap_or_default())
        }
        "turn_end" | "TurnEnd" => Update::TurnEnd,
        _ => Update::Other,
    }
}

/// Which of the options is meant: by its kind, whatever its id and wherever it stands.
pub(super) fn option(options: &Value, leave: &str, quirk: Quirk) -> Option<Value> {
    let all = options.as_array()?;
    if quirk.is("first-option") {
        return Some(all.first()?["optionId"].clone());
    }
    let kinds: &[&str] = match leave {
        "allow" => &["allow_once", "allow_always"],
        _ => &["reject_once", "reject_always"],
    };
    if quirk.is("kind-as-option") {
        return Some(json!(kinds[0]));
    }
    let of = |kind: &&str| all.iter().find(|option| option["kind"] == **kind);
    kinds.iter().find_map(of).map(|option| option["optionId"].clone())
}

/// The params of a prompt.
pub(super) fn prompt(session: &str, blocks: &Value, quirk: Quirk) -> Value {
    let name = if quirk.is("to-the-letter") { "content" } else { "prompt" };
    json!({"sessionId": session, name: blocks})
}

/// The status of a summary, in whichever form it came.
pub(super) fn compaction(params: &Value, quirk: Quirk) -> Option<String> {
    let nested = params["status"]["type"].as_str().filter(|_| !quirk.is("flat-status"));
    nested.or_else(|| params["status"].as_str()).map(str::to_owned)
}

/// An address that a person may be sent to, and what of it may stand in a log.
pub(super) fn address(url: &str) -> Option<(String, String)> {
    let rest = url.strip_prefix("https://")?;
    let shown = rest.split(['?', '#']).next().unwrap_or_default();
    Some((url.to_owned(), format!("https://{shown}")))
}
