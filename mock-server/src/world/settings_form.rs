//! Settings as the servers understand them: what was written in a short or an old way, and what they add.

use super::config::merge;
use fixtures::ServerKind;
use serde_json::{Map, Value, json};

/// What is said of an agent in words that every server knows; all else are options of its model.
const OF_AGENT: [&str; 18] = [
    "name",
    "model",
    "variant",
    "prompt",
    "description",
    "temperature",
    "top_p",
    "mode",
    "displayName",
    "source",
    "hidden",
    "color",
    "steps",
    "maxSteps",
    "options",
    "permission",
    "disable",
    "tools",
];

/// The settings as they are read.
pub(crate) fn whole(settings: Map<String, Value>, server: ServerKind) -> Map<String, Value> {
    with_tools(as_sent(settings, server))
}

/// What they say of tools are permissions, which count less than those that are called so.
pub(super) fn with_tools(mut settings: Map<String, Value>) -> Map<String, Value> {
    if let Some(tools) = settings.get("tools").map(of_tools).filter(|tools| !tools.is_empty()) {
        let said = settings.get("permission").cloned().unwrap_or_default();
        let mut permission = tools;
        merge(&mut permission, &said);
        settings.insert("permission".to_owned(), Value::Object(permission));
    }
    settings
}

/// What a client sends of them, as it is understood.
pub(super) fn as_sent(mut settings: Map<String, Value>, server: ServerKind) -> Map<String, Value> {
    if let Some(said) = settings.get_mut("permission") {
        *said = permissions(said.take());
    }
    for key in ["agent", "mode"] {
        if let Some(Value::Object(agents)) = settings.get_mut(key) {
            agents.values_mut().filter_map(Value::as_object_mut).for_each(whole_agent);
        }
    }
    if let Some(Value::Object(tried)) =
        settings.get_mut("experimental").filter(|_| server == ServerKind::Kilo)
    {
        tried.entry("openTelemetry").or_insert(json!(true));
    }
    settings
}

/// The same as they are used: modes are what agents were called before.
pub(crate) fn in_use(mut settings: Map<String, Value>) -> Map<String, Value> {
    let modes = settings.get("mode").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, mut mode) in modes {
        mode["mode"] = json!("primary");
        merge(&mut settings, &json!({"agent": {name: mode}}));
    }
    settings
}

/// What is said of an agent, in its whole form.
pub(crate) fn whole_agent(agent: &mut Map<String, Value>) {
    let tells_options = agent.get("options") != Some(&Value::Null);
    let mut options = agent.get("options").and_then(Value::as_object).cloned().unwrap_or_default();
    for (key, value) in agent.iter().filter(|(key, _)| !OF_AGENT.contains(&key.as_str())) {
        options.insert(key.clone(), value.clone());
    }
    let mut permission = agent.get("tools").map(of_tools).unwrap_or_default();
    let said = agent.get("permission").cloned().map(permissions).unwrap_or_default();
    for (key, value) in said.as_object().into_iter().flatten() {
        permission.insert(key.clone(), value.clone());
    }
    let steps = agent.get("steps").or_else(|| agent.get("maxSteps")).cloned();
    if tells_options {
        agent.insert("options".to_owned(), Value::Object(options));
    }
    agent.insert("permission".to_owned(), Value::Object(permission));
    agent.extend(steps.map(|steps| ("steps".to_owned(), steps)));
}

/// One word is about everything.
pub(crate) fn permissions(said: Value) -> Value {
    if said.is_string() { json!({"*": said}) } else { said }
}

/// Tools that are switched on and off, as permissions.
pub(crate) fn of_tools(tools: &Value) -> Map<String, Value> {
    let mut permissions = Map::new();
    for (tool, on) in tools.as_object().into_iter().flatten() {
        let permission = if matches!(tool.as_str(), "write" | "edit" | "patch") { "edit" } else { tool };
        permissions.insert(permission.to_owned(), json!(if *on == true { "allow" } else { "deny" }));
    }
    permissions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_short_is_told_whole() {
        let settings = json!({
            "permission": "ask",
            "agent": {"x": {"tools": {"write": false, "glob": true}, "permission": {"bash": "deny"}, "maxSteps": 3, "extra": 1}},
        });
        let settings = whole(settings.as_object().cloned().unwrap(), ServerKind::Opencode);
        assert_eq!(settings["permission"], json!({"*": "ask"}));
        let x = &settings["agent"]["x"];
        assert_eq!(x["permission"], json!({"edit": "deny", "glob": "allow", "bash": "deny"}));
        assert_eq!((&x["steps"], &x["options"], &x["extra"]), (&json!(3), &json!({"extra": 1}), &json!(1)));
        assert_eq!(whole(settings.clone(), ServerKind::Opencode), settings);
    }

    #[test]
    fn a_mode_is_an_agent_that_a_person_chooses() {
        let settings = json!({
            "mode": {"x": {"prompt": "X.", "permission": {"bash": "deny"}}}, "agent": {"x": {"color": "#000000"}},
        });
        let read = whole(settings.as_object().cloned().unwrap(), ServerKind::Opencode);
        let mode = json!({"prompt": "X.", "permission": {"bash": "deny"}, "options": {}});
        assert_eq!(read["mode"]["x"], mode);
        assert_eq!(read["agent"]["x"].get("prompt"), None, "what is told of a change is not in use yet");
        let settings = in_use(read);
        let x = &settings["agent"]["x"];
        assert_eq!(
            (&x["mode"], &x["prompt"], &x["color"]),
            (&json!("primary"), &json!("X."), &json!("#000000"))
        );
    }

    #[test]
    fn tools_switched_off_for_all_are_permissions_under_what_is_said() {
        let settings = json!({"tools": {"bash": false, "grep": false}, "permission": {"bash": "ask"}});
        let settings = whole(settings.as_object().cloned().unwrap(), ServerKind::Opencode);
        assert_eq!(settings["permission"], json!({"bash": "ask", "grep": "deny"}));
    }

    #[test]
    fn who_tries_something_is_counted_unless_nobody_shall_count() {
        let tried = |said: Value, server| {
            let settings = json!({"experimental": said}).as_object().cloned().unwrap();
            whole(settings, server)["experimental"]["openTelemetry"].clone()
        };
        assert_eq!(tried(json!({}), ServerKind::Kilo), true);
        assert_eq!(tried(json!({"openTelemetry": false}), ServerKind::Kilo), false);
        assert_eq!(tried(json!({}), ServerKind::Opencode), Value::Null);
    }
}
