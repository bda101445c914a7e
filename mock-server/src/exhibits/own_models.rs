//! The providers and models of the settings, as the servers list them: beside the one that was recorded, or in its place.

use super::Answers;
use crate::project_files::merge_settings;
use crate::world::{WorldConfig, first_choice, is_offered, thinks_in, variants};
use fixtures::ServerKind;
use serde_json::{Map, Value, json};

/// The provider of the scripted model.
const SCRIPTED: &str = "fake";

/// Adds them to the list of those that can be used.
pub(super) fn add(answers: &mut Answers, config: &WorldConfig, server: ServerKind) {
    let Some((_, _, body)) = answers.get_mut("/config/providers") else { return };
    let mut known: Value = serde_json::from_str(body).unwrap_or_default();
    let Some(list) = known["providers"].as_array_mut() else { return };
    let Some(place) = list.iter().position(|one| one["id"] == SCRIPTED) else { return };
    let pattern = list[place].clone();
    let mut first = Map::new();
    if config.customs.brings_model {
        list.remove(place);
        first.insert(SCRIPTED.to_owned(), Value::Null);
    }
    let is_told = |id: &String| {
        let told = [&config.said, &config.customs.over];
        told.iter().any(|told| told.get("provider").is_some_and(|all| all.get(id).is_some()))
    };
    let said = config.customs.settings.get("provider").and_then(Value::as_object);
    for (id, said) in said.into_iter().flatten() {
        let at = list.iter().position(|one| one["id"] == id.as_str());
        let mut provider = match at {
            None => empty(id, &pattern),
            Some(at) if id == SCRIPTED => list[at].clone(),
            // What a release knows by itself is told as it is known.
            Some(_) => continue,
        };
        tell(&mut provider, said, &pattern["models"][SCRIPTED], server);
        if let Some(models) = provider["models"].as_object_mut() {
            models.retain(|name, _| is_offered(said, name));
        }
        let models = provider["models"].as_object().into_iter().flat_map(Map::keys);
        let best = first_choice(models.map(String::as_str));
        let is_empty = best.is_none();
        first.insert(id.clone(), json!(best));
        match at {
            _ if is_empty => list.retain(|one| one["id"] != id.as_str()),
            Some(at) => list[at] = provider,
            None => match list.iter().position(|one| one["id"] == SCRIPTED).filter(|_| !is_told(id)) {
                // What files bring stands before what the server was told.
                Some(scripted) => list.insert(scripted, provider),
                None => list.push(provider),
            },
        }
    }
    if let Some(default) = known["default"].as_object_mut() {
        default.extend(first);
        default.retain(|_, model| !model.is_null());
    }
    *body = known.to_string();
}

/// A provider without models, in the form of the recorded one.
fn empty(id: &str, pattern: &Value) -> Value {
    let mut provider = pattern.clone();
    provider["id"] = json!(id);
    provider["name"] = json!(id);
    provider["options"] = json!({});
    provider["models"] = json!({});
    provider
}

fn tell(provider: &mut Value, said: &Value, pattern: &Value, server: ServerKind) {
    if let Some(name) = said.get("name") {
        provider["name"] = name.clone();
    }
    if let (Some(options), Some(own)) = (provider["options"].as_object_mut(), said.get("options")) {
        merge_settings(options, own);
    }
    let id = provider["id"].clone();
    let Some(models) = provider["models"].as_object_mut() else { return };
    for (name, said) in said["models"].as_object().into_iter().flatten() {
        let model = models.entry(name.clone()).or_insert_with(|| {
            let mut model = pattern.clone();
            model["id"] = json!(name);
            model["providerID"] = id.clone();
            model["api"]["id"] = json!(name);
            model["name"] = json!(name);
            model["limit"] = json!({"context": 0, "output": 0});
            model
        });
        describe(name, model, said, server);
    }
}

fn describe(name: &str, model: &mut Value, said: &Value, server: ServerKind) {
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
    if let Some(field) = thinks_in(model["api"]["id"].as_str().unwrap_or(name), said) {
        model["capabilities"]["interleaved"] = json!({"field": field});
    }
    for key in ["options", "headers"] {
        if let (Some(known), Some(own)) = (model[key].as_object_mut(), said.get(key)) {
            merge_settings(known, own);
        }
    }
    model["variants"] = Value::Object(variants(name, said, server));
}
