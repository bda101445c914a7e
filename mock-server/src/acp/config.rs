//! What a client can choose in a session, as `configOptions`.

use super::directory::{Directory, Model};
use crate::javascript::in_dictionary;
use fixtures::ServerKind;
use serde_json::{Value, json};

/// What is chosen now.
pub(super) struct Chosen<'a> {
    pub(super) model: &'a Model,
    pub(super) variant: Option<&'a str>,
    pub(super) mode: Option<&'a str>,
}

/// The complete list, as every answer about options has it.
pub(super) fn options(kind: ServerKind, directory: &Directory, chosen: &Chosen<'_>) -> Value {
    let mut all = vec![json!({
        "id": "model", "name": "Model", "category": "model", "type": "select",
        "currentValue": chosen.model.word(), "options": models(directory),
    })];
    let variants = directory.variants(chosen.model);
    if !variants.is_empty() {
        all.push(effort(kind, &variants, chosen.variant));
    }
    if let Some(mode) = chosen.mode.filter(|_| !directory.modes.is_empty()) {
        let options: Vec<Value> = directory.modes.iter().map(as_option).collect();
        all.push(json!({
            "id": "mode", "name": "Session Mode", "category": "mode", "type": "select",
            "currentValue": mode, "options": options,
        }));
    }
    Value::Array(all)
}

fn as_option(mode: &Value) -> Value {
    let mut option = json!({"value": mode["id"], "name": mode["name"]});
    if let Some(description) = mode.get("description") {
        option["description"] = description.clone();
    }
    option
}

/// By provider, and there by name.
fn models(directory: &Directory) -> Vec<Value> {
    let of = |provider: &Value| {
        let mut models: Vec<Value> =
            provider["models"].as_object().into_iter().flatten().map(|(_, model)| model.clone()).collect();
        let word = |name: &Value| name.as_str().unwrap_or_default().to_owned();
        models.sort_by(|a, b| in_dictionary(&word(&a["name"]), &word(&b["name"])));
        let option = |model: &Value| {
            json!({
                "value": format!("{}/{}", word(&provider["id"]), word(&model["id"])),
                "name": format!("{}/{}", word(&provider["name"]), word(&model["name"])),
            })
        };
        models.iter().map(option).collect::<Vec<_>>()
    };
    directory.providers.iter().flat_map(of).collect()
}

/// OpenCode's agent offers `default` beside those of the model.
fn effort(kind: ServerKind, variants: &[String], chosen: Option<&str>) -> Value {
    let mut all: Vec<&str> = variants.iter().map(String::as_str).collect();
    if kind == ServerKind::Opencode && !all.contains(&"default") {
        all.push("default");
    }
    let current = match chosen {
        Some(chosen) if all.contains(&chosen) => chosen,
        _ if variants.iter().any(|variant| variant == "default") => "default",
        _ => all[0],
    };
    let options: Vec<Value> =
        all.iter().map(|variant| json!({"value": variant, "name": title(variant)})).collect();
    json!({
        "id": "effort", "name": "Effort", "description": "Available effort levels for this model",
        "category": "thought_level", "type": "select", "currentValue": current, "options": options,
    })
}

/// `very_high` → `Very High`.
fn title(word: &str) -> String {
    let big = |part: &str| {
        let mut letters = part.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    };
    word.split(['_', '-']).map(big).collect::<Vec<_>>().join(" ")
}
