//! A chat request in the OpenAI dialect, reduced to what a script needs and what a recording may keep.

use fixtures::recording::ModelPurpose;
use serde_json::{Value, json};

/// How the servers ask for a summary, and for one that takes up an earlier one.
const SUMMARY: [&str; 2] = ["anchored summary", "<prior-summary>"];

/// What a file that a tool has read is told with, since the result of a tool holds text alone. Nobody has prompted it.
pub(crate) const MEDIA: &str = "Attached media from tool result:";

/// What a server asks its model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The conversation, oldest first, as sent.
    pub messages: Vec<Value>,
    /// The names of the offered tools, as sent.
    pub tools: Vec<String>,
    /// Does the server want the answer as a stream?
    pub stream: bool,
    /// The session that asks, where the server tells it in a header.
    pub session: Option<String>,
    /// How hard the model is told to think (`reasoning_effort`), where it is told.
    pub effort: Option<String>,
}

impl ChatRequest {
    /// Reads a request's body.
    pub fn parse(body: &Value) -> Result<Self, String> {
        let messages = body
            .get("messages")
            .and_then(Value::as_array)
            .ok_or("the request has no array 'messages': send an OpenAI chat completion request")?;
        let tools = body
            .get("tools")
            .and_then(Value::as_array)
            .map(|tools| {
                tools
                    .iter()
                    .filter_map(|tool| tool.pointer("/function/name").and_then(Value::as_str))
                    .map(str::to_owned)
                    .collect()
            })
            .unwrap_or_default();
        let stream = body.get("stream").and_then(Value::as_bool).unwrap_or(false);
        let effort = body.get("reasoning_effort").and_then(Value::as_str).map(str::to_owned);
        Ok(Self { messages: messages.clone(), tools, stream, session: None, effort })
    }

    /// The servers offer tools whenever the agent works; a request without any may be for their own use.
    #[must_use]
    pub fn purpose(&self) -> ModelPurpose {
        if !self.tools.is_empty() {
            return ModelPurpose::Turn;
        }
        let system =
            self.messages.iter().find(|message| role(message) == "system").map(text).unwrap_or_default();
        let asks_for_summary =
            self.last_prompt().is_some_and(|(_, prompt)| SUMMARY.iter().any(|words| prompt.contains(words)));
        if system.to_ascii_lowercase().contains("title generator") {
            ModelPurpose::Title
        } else if asks_for_summary {
            ModelPurpose::Summary
        } else {
            ModelPurpose::Turn
        }
    }

    /// Where the last prompt stands in the conversation.
    #[must_use]
    pub fn last_prompt(&self) -> Option<(usize, String)> {
        let is_prompt = |message: &Value| role(message) == "user" && !text(message).starts_with(MEDIA);
        let at = self.messages.iter().rposition(is_prompt)?;
        Some((at, text(&self.messages[at])))
    }

    /// The conversation as a recording keeps it: a system message has its length in place of the vendor's text.
    #[must_use]
    pub fn reduced_messages(&self) -> Vec<Value> {
        self.messages
            .iter()
            .map(|message| match role(message) {
                "system" => json!({"role": "system", "chars": text(message).chars().count()}),
                _ => message.clone(),
            })
            .collect()
    }
}

/// Who speaks in a message.
#[must_use]
pub fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

/// The text of a message, whether it is sent as a string or as parts.
#[must_use]
pub fn text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> =
                parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
