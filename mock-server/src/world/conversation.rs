//! What the model is told: the conversation as an OpenAI-compatible request.

use super::World;
use super::session::{Message, iso_time};
use crate::model::{ChatRequest, MEDIA};
use serde_json::{Value, json};

impl World {
    /// The request for the current step of a session's turn.
    pub(crate) fn turn_request(&self, session: &str) -> ChatRequest {
        let mut messages =
            vec![json!({"role": "system", "content": "You are a coding agent played by a stand-in."})];
        if let Some(owner) = self.sessions.get(session) {
            let current = owner.run.as_ref().map_or("", |run| run.message.as_str());
            let prompt = owner.run.as_ref().map_or("", |run| run.prompt.as_str());
            let waits = |id: &str| owner.queue.iter().any(|queued| queued.message == id);
            let told =
                |message: &&Message| message.id() != current && !waits(message.id()) && !is_lost(message);
            let is_last = |message: &&Message| message.id() == prompt || message.info["parentID"] == prompt;
            let (last, earlier): (Vec<_>, Vec<_>) = owner.messages.iter().filter(told).partition(is_last);
            for message in earlier.into_iter().chain(last) {
                match message.role() {
                    "user" => messages.push(self.prompt_message(message, &owner.directory)),
                    _ => messages.extend(answer_messages(message, self.profile.wordless_is_null)),
                }
            }
        }
        let tools = self.offered_tools(session);
        ChatRequest { messages, tools, stream: true, session: Some(session.to_owned()) }
    }

    /// The tools that the agent may use.
    pub(crate) fn offered_tools(&self, session: &str) -> Vec<String> {
        let who = self.who(session);
        let is_offered =
            |tool: &&&str| self.permissions.offers(&who, tool) && !self.is_switched_off(session, tool);
        let tools = self.profile.tools.iter().filter(is_offered);
        tools.map(|&tool| tool.to_owned()).collect()
    }

    fn prompt_message(&self, message: &Message, directory: &str) -> Value {
        let said = message.parts.iter().filter(|part| part["type"] == "text" && part["ignored"] != true);
        let mut texts: Vec<Value> = said.map(|part| json!({"type": "text", "text": part["text"]})).collect();
        if !self.profile.environment_details {
            let content = if texts.len() == 1 { texts[0]["text"].take() } else { Value::Array(texts) };
            return json!({"role": "user", "content": content});
        }
        let created = message.info.pointer("/time/created").and_then(Value::as_u64).unwrap_or_default();
        let time = iso_time(created);
        let seconds = time.split('.').next().unwrap_or_default();
        let root = self.worktree_of(directory);
        let details = format!(
            "\n\n<environment_details>\nMessage time: {seconds}Z\nWorking directory: {directory}\n\
             Workspace root folder: {root}\n</environment_details>"
        );
        texts.push(json!({"type": "text", "text": details}));
        json!({"role": "user", "content": texts})
    }

    /// Has the prompt that is being answered switched this tool off?
    fn is_switched_off(&self, session: &str, tool: &str) -> bool {
        let Some(owner) = self.sessions.get(session) else { return false };
        let prompt = owner.run.as_ref().and_then(|run| owner.message(&run.prompt));
        prompt.is_some_and(|prompt| prompt.info["tools"][tool] == false)
    }
}

/// A step that failed is not told to the model; what a person broke off is, as far as it came.
fn is_lost(message: &Message) -> bool {
    let said = message.parts.iter().any(|part| part["type"] == "text" || part["type"] == "tool");
    match message.info.pointer("/error/name").and_then(Value::as_str) {
        None => false,
        Some("MessageAbortedError") => !said,
        Some(_) => true,
    }
}

/// A step's message: what was said, the calls, and then a message for the result of each.
fn answer_messages(message: &Message, wordless_is_null: bool) -> Vec<Value> {
    let mut said = String::new();
    let mut thought = String::new();
    let mut calls = Vec::new();
    let mut results = Vec::new();
    let mut media = Vec::new();
    for part in message.parts.iter().filter(|part| part["ignored"] != true) {
        match part["type"].as_str() {
            Some("text") => said.push_str(part["text"].as_str().unwrap_or_default()),
            Some("reasoning") => thought.push_str(part["text"].as_str().unwrap_or_default()),
            Some("tool") => {
                let state = &part["state"];
                calls.push(json!({
                    "id": part["callID"], "type": "function",
                    "function": {"name": part["tool"], "arguments": state["input"].to_string()},
                }));
                let content = state.get("output").or_else(|| state.get("error")).cloned().unwrap_or_default();
                media.extend(state["attachments"].as_array().into_iter().flatten().map(untold_file));
                results.push(json!({"role": "tool", "tool_call_id": part["callID"], "content": content}));
            }
            _ => {}
        }
    }
    let is_silent = |part: &Value| !matches!(part["type"].as_str(), Some("text" | "reasoning" | "tool"));
    if message.parts.iter().all(is_silent) {
        return Vec::new();
    }
    let is_null = wordless_is_null && said.is_empty() && !calls.is_empty();
    let content = if is_null { Value::Null } else { json!(said) };
    let mut answer = json!({"role": "assistant", "content": content});
    if !thought.is_empty() {
        answer["reasoning_content"] = json!(thought);
    }
    if !calls.is_empty() {
        answer["tool_calls"] = json!(calls);
    }
    let mut messages = vec![answer];
    messages.extend(results);
    if !media.is_empty() {
        let told = std::iter::once(json!({"type": "text", "text": MEDIA})).chain(media);
        messages.push(json!({"role": "user", "content": told.collect::<Vec<Value>>()}));
    }
    messages
}

/// The stand-in's model reads text alone, as a model does of which its server knows nothing.
fn untold_file(file: &Value) -> Value {
    let kind = if file["mime"] == "application/pdf" { "pdf" } else { "image" };
    let text =
        format!("ERROR: Cannot read {kind} (this model does not support {kind} input). Inform the user.");
    json!({"type": "text", "text": text})
}
