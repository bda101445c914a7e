//! The seed's words: `content` for `prompt`, `mode` for `modeId`, updates by a `type` in capitals.

use serde_json::{Map, Value, json};

/// What a client of the seed says, in the words of the standard.
pub(super) fn heard(method: &str, mut params: Value) -> Value {
    let renames: &[(&str, &str)] = match method {
        "session/prompt" => &[("content", "prompt")],
        "session/set_mode" => &[("mode", "modeId")],
        "session/set_model" => &[("model", "modelId")],
        _ => &[],
    };
    if let Some(params) = params.as_object_mut() {
        for (theirs, ours) in renames {
            if let Some(value) = params.remove(*theirs) {
                params.insert((*ours).to_owned(), value);
            }
        }
    }
    for block in params["prompt"].as_array_mut().into_iter().flatten() {
        // A picture is a path there.
        if let Some(path) = block["source"]["path"].as_str() {
            *block = json!({"type": "resource_link", "name": "image", "uri": format!("file://{path}"), "mimeType": "image/png"});
        }
    }
    params
}

/// The answer to a request, with what the seed shows and no more.
pub(super) fn answered(method: &str, params: &Value, result: Value) -> Value {
    match method {
        "initialize" => json!({
            "protocolVersion": 1,
            "agentCapabilities": {"loadSession": true, "promptCapabilities": {"image": true}},
            "agentInfo": {"name": "kiro-cli", "version": "1.5.0"},
        }),
        "session/new" => json!({"sessionId": result["sessionId"]}),
        "session/load" => json!({"sessionId": params["sessionId"], "cwd": params["cwd"]}),
        "session/prompt" => json!({"stopReason": result["stopReason"]}),
        "session/set_mode" | "session/set_model" => json!({}),
        _ => result,
    }
}

/// An update; of those that the seed does not name there is none.
pub(super) fn update(update: &Value, is_first: bool) -> Option<Value> {
    let status = |standard: &str| match standard {
        "in_progress" => "running".to_owned(),
        other => other.to_owned(),
    };
    match update["sessionUpdate"].as_str()? {
        "agent_message_chunk" => {
            Some(json!({"type": "AgentMessageChunk", "content": update["content"]["text"]}))
        }
        "tool_call_update" if is_first => Some(json!({
            "type": "ToolCall", "id": update["toolCallId"], "name": name_of(update),
            "parameters": parameters(update), "status": "running",
        })),
        "tool_call_update" => {
            let mut told = Map::from_iter([
                ("type".to_owned(), json!("ToolCallUpdate")),
                ("id".to_owned(), update["toolCallId"].clone()),
            ]);
            if let Some(standard) = update["status"].as_str() {
                told.insert("status".to_owned(), json!(status(standard)));
            }
            if let Some(text) = update.pointer("/content/0/content/text") {
                told.insert("content".to_owned(), text.clone());
            }
            Some(Value::Object(told))
        }
        _ => None,
    }
}

/// Of a shell line the line alone.
fn parameters(update: &Value) -> Value {
    match update["kind"].as_str() {
        Some("execute") => json!({"command": update["rawInput"]["command"]}),
        _ => update["rawInput"].clone(),
    }
}

/// A shell line is Kiro's `execute_bash`.
fn name_of(update: &Value) -> Value {
    match update["kind"].as_str() {
        Some("execute") => json!("execute_bash"),
        _ => update["name"].as_str().map_or_else(|| update["title"].clone(), |name| json!(name)),
    }
}
