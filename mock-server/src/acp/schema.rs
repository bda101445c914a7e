//! What a request must be, and the words of its refusal: those of zod, by which the real agents read.

use crate::javascript::kind_of;
use serde_json::{Map, Value, json};

/// What stands at a place of the params.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    List,
    /// A list of MCP servers.
    Servers,
    /// A list of blocks.
    Blocks,
    /// The protocol's number.
    Version,
    /// A text, or a switch.
    Choice,
}

/// The fields that a method must have.
fn fields(method: &str) -> &'static [(&'static str, Kind)] {
    match method {
        "initialize" => &[("protocolVersion", Kind::Version)],
        "authenticate" => &[("methodId", Kind::Text)],
        "session/new" => &[("cwd", Kind::Text), ("mcpServers", Kind::Servers)],
        "session/load" => &[("cwd", Kind::Text), ("mcpServers", Kind::Servers), ("sessionId", Kind::Text)],
        "session/resume" | "session/fork" => &[("cwd", Kind::Text), ("sessionId", Kind::Text)],
        "session/prompt" => &[("prompt", Kind::Blocks), ("sessionId", Kind::Text)],
        "session/set_mode" => &[("modeId", Kind::Text), ("sessionId", Kind::Text)],
        "session/set_model" => &[("modelId", Kind::Text), ("sessionId", Kind::Text)],
        "session/set_config_option" => {
            &[("configId", Kind::Text), ("sessionId", Kind::Text), ("value", Kind::Choice)]
        }
        "session/close" | "session/cancel" => &[("sessionId", Kind::Text)],
        _ => &[],
    }
}

/// What is wrong with the params, as the data of a refusal.
pub(super) fn wrong(method: &str, params: &Value) -> Option<Value> {
    let mut errors = Map::new();
    if !params.is_object() {
        let wanted = format!("Invalid input: expected object, received {}", kind_of(Some(params)));
        return Some(json!({"_errors": [wanted]}));
    }
    for (name, kind) in fields(method) {
        let Some(error) = wrong_value(*kind, params.get(name)) else { continue };
        match (kind, error) {
            // What is wrong within a choice of several forms is told without its place.
            (Kind::Blocks | Kind::Servers, Value::Object(error)) if params[*name].is_array() => {
                errors.extend(error)
            }
            (_, error) => {
                errors.insert((*name).to_owned(), error);
            }
        }
    }
    if errors.is_empty() {
        return None;
    }
    errors.entry("_errors").or_insert_with(|| json!([]));
    Some(Value::Object(errors))
}

fn wrong_value(kind: Kind, value: Option<&Value>) -> Option<Value> {
    let expected = |what: &str| {
        Some(json!({"_errors": [format!("Invalid input: expected {what}, received {}", kind_of(value))]}))
    };
    match kind {
        Kind::Text => {
            if value.is_some_and(Value::is_string) {
                None
            } else {
                expected("string")
            }
        }
        Kind::Choice => match value {
            Some(Value::String(_) | Value::Bool(_)) => None,
            _ => Some(json!({"_errors": ["Invalid input"]})),
        },
        Kind::Version => match value.and_then(Value::as_f64) {
            None => expected("number"),
            Some(version) if version > 65535.0 => {
                Some(json!({"_errors": ["Too big: expected number to be <=65535"]}))
            }
            Some(version) if version < 0.0 => {
                Some(json!({"_errors": ["Too small: expected number to be >=0"]}))
            }
            Some(_) => None,
        },
        Kind::List => {
            if value.is_some_and(Value::is_array) {
                None
            } else {
                expected("array")
            }
        }
        Kind::Servers | Kind::Blocks => {
            let Some(items) = value.and_then(Value::as_array) else { return wrong_value(Kind::List, value) };
            let is_good: fn(&Value) -> bool = match kind {
                Kind::Servers => is_server,
                _ => is_block,
            };
            let wrong = items.iter().find(|item| !is_good(item))?;
            let forms = if matches!(kind, Kind::Servers) { SERVERS } else { BLOCKS };
            Some(in_no_form(forms, wrong))
        }
    }
}

/// The forms of a thing: by its `type`, the texts that it must have.
type Forms = &'static [(Option<&'static str>, &'static [&'static str])];

const BLOCKS: Forms = &[
    (Some("text"), &["text"]),
    (Some("image"), &["data", "mimeType"]),
    (Some("audio"), &["data", "mimeType"]),
    (Some("resource_link"), &["name", "uri"]),
    (Some("resource"), &[]),
];
const SERVERS: Forms =
    &[(Some("http"), &["name", "url"]), (Some("sse"), &["name", "url"]), (None, &["command", "name"])];

fn in_no_form(forms: Forms, item: &Value) -> Value {
    let mut all: Map<String, Value> = Map::from_iter([("_errors".to_owned(), json!([]))]);
    let mut add = |name: &str, error: String| {
        let place = all.entry(name.to_owned()).or_insert_with(|| json!({"_errors": []}));
        let errors = if name == "_errors" { place.as_array_mut() } else { place["_errors"].as_array_mut() };
        if let Some(errors) = errors {
            errors.push(json!(error));
        }
    };
    for (kind, texts) in forms {
        if *kind == Some("resource") {
            // With text or with bytes.
            for _ in 0..2 {
                add(
                    "_errors",
                    format!("Invalid input: expected object, received {}", kind_of(item.get("resource"))),
                );
            }
        }
        for text in *texts {
            if !item[*text].is_string() {
                add(text, format!("Invalid input: expected string, received {}", kind_of(item.get(*text))));
            }
        }
        if let Some(kind) = kind.filter(|kind| item["type"] != *kind) {
            add("type", format!("Invalid input: expected \"{kind}\""));
        }
    }
    Value::Object(all)
}

fn is_server(server: &Value) -> bool {
    let has = |names: &[&str]| names.iter().all(|name| server[*name].is_string());
    let pairs = |name: &str| {
        let pair = |pair: &Value| pair["name"].is_string() && pair["value"].is_string();
        server[name].as_array().is_some_and(|pairs| pairs.iter().all(pair))
    };
    match server["type"].as_str() {
        Some("http" | "sse") => has(&["name", "url"]) && pairs("headers"),
        _ => has(&["name", "command"]) && server["args"].is_array() && pairs("env"),
    }
}

fn is_block(block: &Value) -> bool {
    let has = |names: &[&str]| names.iter().all(|name| block[*name].is_string());
    match block["type"].as_str() {
        Some("text") => has(&["text"]),
        Some("image" | "audio") => has(&["data", "mimeType"]),
        Some("resource_link") => has(&["name", "uri"]),
        Some("resource") => {
            let resource = &block["resource"];
            resource["uri"].is_string() && (resource["text"].is_string() || resource["blob"].is_string())
        }
        _ => false,
    }
}
