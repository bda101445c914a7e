//! A chat request in the OpenAI dialect, reduced to what a script needs and what a recording may keep.

use fixtures::recording::ModelPurpose;
use serde_json::{Map, Value, json};

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
    /// What is said beside: the model's name, how much it may say, how hard it shall think.
    pub terms: Map<String, Value>,
    /// Description and parameters of offered tools, by name; what a request is read from leaves them away.
    pub definitions: Map<String, Value>,
    /// Who may be given work: as what is told of `task` ends.
    pub helpers: Vec<String>,
    /// What the server wants it for itself, where it has said so; else the words tell.
    pub own_use: Option<OwnUse>,
}

/// What a server asks its model for beside the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnUse {
    /// A name for a session.
    Title,
    /// What a conversation was about.
    Summary,
}

/// What of a request's body is no term.
const NO_TERMS: [&str; 4] = ["messages", "tools", "stream", "stream_options"];

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
        let mut terms = body.as_object().cloned().unwrap_or_default();
        terms.retain(|name, _| !NO_TERMS.contains(&name.as_str()));
        Ok(Self {
            messages: messages.clone(),
            tools,
            stream,
            session: None,
            terms,
            definitions: Map::new(),
            helpers: Vec::new(),
            own_use: None,
        })
    }

    /// As it is sent, in the order of the servers.
    #[must_use]
    pub fn body(&self) -> Value {
        let mut body = self.terms.clone();
        body.insert("messages".to_owned(), Value::Array(self.messages.clone()));
        if !self.tools.is_empty() {
            body.insert("tools".to_owned(), self.tools.iter().map(|name| self.tool(name)).collect());
        }
        body.insert("stream".to_owned(), json!(true));
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
        Value::Object(body)
    }

    /// Ends what is told of `task` with those who may be given work, in place of those whom the recording lists.
    pub(crate) fn name_helpers(&mut self) {
        let told = self.definitions.get_mut("task").and_then(|task| task.get_mut("description"));
        let Some(Value::String(told)) = told else { return };
        if let Some(list) = told.rfind(":\n- ") {
            told.truncate(list + 1);
            self.helpers.iter().for_each(|helper| told.push_str(&format!("\n- {helper}")));
        }
    }

    fn tool(&self, name: &str) -> Value {
        let mut function = json!({"name": name});
        let known = self.definitions.get(name).and_then(Value::as_object);
        match (known, function.as_object_mut()) {
            (Some(known), Some(function)) => function.extend(known.clone()),
            _ => function["parameters"] = json!({"type": "object"}),
        }
        json!({"type": "function", "function": function})
    }

    /// How hard the model is told to think, where it is told.
    #[must_use]
    pub fn effort(&self) -> Option<&str> {
        self.terms.get("reasoning_effort").and_then(Value::as_str)
    }

    /// The servers offer tools whenever the agent works; a request without any may be for their own use.
    #[must_use]
    pub fn purpose(&self) -> ModelPurpose {
        match self.own_use {
            Some(OwnUse::Title) => return ModelPurpose::Title,
            Some(OwnUse::Summary) => return ModelPurpose::Summary,
            None => {}
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_sent_with_its_terms_and_with_what_is_known_of_its_tools() {
        let terms =
            json!({"model": "own", "max_tokens": 5, "tool_choice": "auto", "reasoning_effort": "low"});
        let known =
            json!({"read": {"description": "Reads.", "parameters": {"type": "object", "required": ["a"]}}});
        let request = ChatRequest {
            messages: vec![json!({"role": "user", "content": "hello"})],
            tools: vec!["read".to_owned(), "else".to_owned()],
            stream: true,
            session: None,
            terms: terms.as_object().cloned().unwrap(),
            definitions: known.as_object().cloned().unwrap(),
            helpers: Vec::new(),
            own_use: None,
        };
        let body = request.body();
        assert_eq!(
            body["tools"][0]["function"],
            json!({
                "name": "read", "description": "Reads.", "parameters": {"type": "object", "required": ["a"]},
            })
        );
        assert_eq!(body["tools"][1]["function"], json!({"name": "else", "parameters": {"type": "object"}}));
        let read = ChatRequest::parse(&body).unwrap();
        assert_eq!(
            (read.terms, read.tools, read.messages),
            (request.terms.clone(), request.tools, request.messages)
        );
        assert_eq!(read.stream, request.stream);
    }
}
