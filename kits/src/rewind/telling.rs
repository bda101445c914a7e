//! What the reference tells the model: the list as it is, message by message.

use super::reference::Client;
use serde_json::{Value, json};

impl Client {
    /// Asks the model, and gives its answer.
    pub(super) async fn send(&self, model: &str, list: &[Value]) -> Result<String, String> {
        let mut messages: Vec<Value> = list.iter().map(message).collect();
        if self.is("tells-the-same-once") {
            messages.dedup();
        }
        if self.is("tells-one-image") {
            let contents = messages.iter_mut().filter_map(|message| message["content"].as_array_mut());
            contents.for_each(|parts| parts.truncate(2));
        }
        if self.is("drops-kept-images") {
            let kept = list.len().saturating_sub(1);
            let told = messages.iter_mut().zip(list).take(kept);
            told.for_each(|(message, entry)| message["content"] = entry["text"].clone());
        }
        if self.is("confuses-roles") {
            let answers = messages.iter_mut().filter(|message| message["role"] == "assistant");
            answers.rev().skip(1).for_each(|message| message["role"] = json!("user"));
        }
        let body = json!({"model": "any", "messages": messages, "stream": false});
        let asked = self.http.post(format!("{model}/v1/chat/completions")).json(&body).send().await;
        let answer =
            asked.and_then(reqwest::Response::error_for_status).map_err(|error| error.to_string())?;
        let answer: Value = match answer.json().await {
            Err(_) if self.is("takes-half") => Value::Null,
            whole => whole.map_err(|error| error.to_string())?,
        };
        Ok(answer
            .pointer("/choices/0/message/content")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned())
    }
}

/// An entry as the model is told it.
fn message(entry: &Value) -> Value {
    let role = if entry["says"] == "answer" { "assistant" } else { "user" };
    let images = entry["images"].as_array().filter(|images| !images.is_empty());
    let Some(images) = images else { return json!({"role": role, "content": entry["text"]}) };
    let pictures = images.iter().map(|url| json!({"type": "image_url", "image_url": {"url": url}}));
    let parts: Vec<Value> =
        [json!({"type": "text", "text": entry["text"]})].into_iter().chain(pictures).collect();
    json!({"role": role, "content": parts})
}
