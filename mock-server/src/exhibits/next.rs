//! Agents, commands and skills as the next generation tells of them: those of the release, with what the files of the
//! workspace say.

use crate::project_files::NextFiles;
use serde_json::{Value, json};

/// The list that is told at a path, if files have a say there.
pub(super) fn told(
    path: &str,
    body: &str,
    (root, directory): (&str, &str),
    files: &NextFiles,
) -> Option<String> {
    let mut known: Value = serde_json::from_str(body).ok()?;
    let below = directory.strip_prefix(root).filter(|below| !below.is_empty());
    if let Some(below) = below {
        known["location"]["directory"] = json!(directory);
        lead_out(&mut known["data"], below.matches('/').count());
    }
    let list = known.get_mut("data")?.as_array_mut()?;
    match path {
        "/api/agent" => add_agents(list, files),
        "/api/command" => {
            for (name, said) in &files.commands {
                let command = named(list, "name", name, || json!({"name": name, "template": ""}));
                say(command, said, &["template", "description", "agent", "subtask"]);
                say_model(command, said);
            }
        }
        "/api/skill" => {
            for skill in files.skills() {
                let name = skill["name"].as_str().unwrap_or_default();
                *named(list, "name", name, || Value::Null) = skill.clone();
            }
        }
        _ => return None,
    }
    Some(known.to_string())
}

/// An answer that was told of `root` is about a folder below it.
pub(super) fn place(told: &mut Value, root: &str, directory: &str) {
    for place in ["/location/directory", "/directory"] {
        if let Some(known) = told.pointer_mut(place).filter(|known| *known == root) {
            *known = json!(directory);
        }
    }
}

/// Rules are about places as they are seen from the folder: each that lies outside is so many steps further away.
fn lead_out(told: &mut Value, steps: usize) {
    for agent in told.as_array_mut().into_iter().flatten() {
        for rule in agent.get_mut("permissions").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(place) = rule["resource"].as_str().filter(|place| place.starts_with("../")) {
                rule["resource"] = json!("../".repeat(steps) + place);
            }
        }
    }
}

fn add_agents(list: &mut Vec<Value>, files: &NextFiles) {
    let add = |agent: &mut Value, rules: &[Value]| {
        if let Some(all) = agent["permissions"].as_array_mut() {
            all.extend_from_slice(rules);
        }
    };
    list.iter_mut().for_each(|agent| add(agent, &files.rules));
    for (name, said) in &files.agents {
        if said["disabled"] == true {
            list.retain(|agent| agent["id"] != name.as_str());
            continue;
        }
        let agent = named(list, "id", name, || {
            json!({
                "id": name, "request": {"headers": {}, "body": {}}, "mode": "all", "hidden": false,
                "permissions": files.rules,
            })
        });
        for part in ["headers", "body"] {
            for (key, value) in said["request"][part].as_object().into_iter().flatten() {
                agent["request"][part][key] = value.clone();
            }
        }
        say(agent, said, &["system", "description", "mode", "hidden", "color", "steps"]);
        say_model(agent, said);
        add(agent, said["permissions"].as_array().map_or(&[], Vec::as_slice));
    }
}

fn say(of: &mut Value, said: &Value, keys: &[&str]) {
    for key in keys.iter().filter(|key| !said[**key].is_null()) {
        of[*key] = said[*key].clone();
    }
}

fn say_model(of: &mut Value, said: &Value) {
    if let Some((provider, model)) = said["model"].as_str().and_then(|model| model.split_once('/')) {
        let variant = of["model"]["variant"].take();
        of["model"] = json!({"id": model, "providerID": provider});
        if !variant.is_null() {
            of["model"]["variant"] = variant;
        }
    }
    if of["model"].is_object() {
        say(&mut of["model"], said, &["variant"]);
    }
}

/// The member of that name; a new one stands behind all others.
fn named<'a>(list: &'a mut Vec<Value>, key: &str, name: &str, new: impl FnOnce() -> Value) -> &'a mut Value {
    let at = list.iter().position(|member| member[key] == name).unwrap_or_else(|| {
        list.push(new());
        list.len() - 1
    });
    &mut list[at]
}
