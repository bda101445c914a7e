//! The models that a scenario's configuration adds to the one that was recorded, as the servers list them.

use super::Answers;
use crate::project_files::merge_settings;
use crate::world::variants;
use fixtures::ServerKind;
use serde_json::{Map, Value, json};

/// Adds the models to the list of those that can be used, and what the settings say of their provider.
pub(super) fn add(answers: &mut Answers, config: &Map<String, Value>, server: ServerKind) {
    let said = config.get("provider").and_then(|all| all.get("fake"));
    let (Some(said), Some((_, _, body))) = (said, answers.get_mut("/config/providers")) else { return };
    let mut known: Value = serde_json::from_str(body).unwrap_or_default();
    let fake =
        known["providers"].as_array_mut().and_then(|all| all.iter_mut().find(|one| one["id"] == "fake"));
    let Some(fake) = fake else { return };
    if let (Some(options), Some(own)) = (fake["options"].as_object_mut(), said.get("options")) {
        merge_settings(options, own);
    }
    let Some(models) = fake["models"].as_object_mut() else { return };
    let Some(pattern) = models.get("fake").cloned() else { return };
    for (id, said) in said["models"].as_object().into_iter().flatten() {
        let model = models.entry(id.clone()).or_insert_with(|| {
            let mut model = pattern.clone();
            model["id"] = json!(id);
            model["api"]["id"] = json!(id);
            model["name"] = json!(id);
            model["limit"] = json!({"context": 0, "output": 0});
            model
        });
        describe(model, said, server);
    }
    // The last by name is offered first.
    if let Some(last) = models.keys().max().cloned() {
        known["default"]["fake"] = json!(last);
    }
    *body = known.to_string();
}

fn describe(model: &mut Value, said: &Value, server: ServerKind) {
    let mut set = |place: &str, value: Option<&Value>| {
        if let (Some(known), Some(value)) = (model.pointer_mut(place), value) {
            *known = value.clone();
        }
    };
    for key in ["name", "family", "release_date", "status"] {
        set(&format!("/{key}"), said.get(key));
    }
    set("/api/id", said.get("id"));
    for (place, key) in [
        ("temperature", "temperature"),
        ("reasoning", "reasoning"),
        ("attachment", "attachment"),
        ("toolcall", "tool_call"),
        ("interleaved", "interleaved"),
    ] {
        set(&format!("/capabilities/{place}"), said.get(key));
    }
    for way in ["input", "output"] {
        let kinds = said.pointer(&format!("/modalities/{way}")).and_then(Value::as_array);
        for kind in ["text", "audio", "image", "video", "pdf"] {
            let takes = kinds.map(|kinds| json!(kinds.iter().any(|own| own == kind)));
            set(&format!("/capabilities/{way}/{kind}"), takes.as_ref());
        }
    }
    for (place, key) in [
        ("input", "input"),
        ("output", "output"),
        ("cache/read", "cache_read"),
        ("cache/write", "cache_write"),
    ] {
        set(&format!("/cost/{place}"), said.pointer(&format!("/cost/{key}")));
    }
    for key in ["context", "output"] {
        set(&format!("/limit/{key}"), said.pointer(&format!("/limit/{key}")));
    }
    if let Some(most) = said.pointer("/limit/input") {
        model["limit"]["input"] = most.clone();
    }
    // A field of the answer in which the model thinks.
    if let Some(field) = said["interleaved"].as_str() {
        model["capabilities"]["interleaved"] = json!({"field": field});
    }
    for key in ["options", "headers"] {
        if let (Some(known), Some(own)) = (model[key].as_object_mut(), said.get(key)) {
            merge_settings(known, own);
        }
    }
    model["variants"] = Value::Object(variants(said, server));
}
