//! What the files of a workspace say to the next generation of a server (`/api/…`). It reads them for itself: nothing is
//! merged, each file adds to what those before it have said, and nothing in them stands for something else.

use super::front::Front;
use super::{files_below, jsonc};
use crate::profile::Profile;
use crate::world::{at_home, of_tools, permissions, whole_agent};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Settings that only the older generation has: a file with one of them is in its words.
const OLDER: [&str; 17] = [
    "logLevel",
    "server",
    "command",
    "reference",
    "snapshot",
    "plugin",
    "autoshare",
    "disabled_providers",
    "enabled_providers",
    "small_model",
    "mode",
    "agent",
    "provider",
    "permission",
    "tools",
    "attachment",
    "layout",
];
/// What is said of an agent in the words of the next generation; a file with any other is in those of the older one.
const OF_AGENT: [&str; 11] = [
    "model",
    "variant",
    "request",
    "system",
    "description",
    "mode",
    "hidden",
    "color",
    "steps",
    "disabled",
    "permissions",
];
/// The rules whose patterns are paths.
const OF_PATHS: [&str; 3] = ["external_directory", "read", "edit"];

/// What was found, in the words of the next generation and in the order in which it counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NextFiles {
    /// Rules for all agents.
    pub(crate) rules: Vec<Value>,
    /// What is said of agents, by name.
    pub(crate) agents: Vec<(String, Value)>,
    /// Commands, by name.
    pub(crate) commands: Vec<(String, Value)>,
    /// Where skills may lie.
    skill_folders: Vec<PathBuf>,
    /// The skills, when somebody has asked for them.
    skills: OnceLock<Vec<Value>>,
}

impl NextFiles {
    /// Reads the files of a folder and of those above it in its workspace, over the server's own settings. `None` where
    /// there is no such folder.
    pub(crate) fn read(
        profile: &Profile,
        (root, directory): (&Path, &Path),
        home: &Path,
        settings: Map<String, Value>,
    ) -> Option<Self> {
        let home = home.to_string_lossy();
        let mut found = Self::default();
        found.say(settings, &home);
        // What lies outside of the workspace is not looked at.
        let levels: Vec<&Path> = directory.ancestors().take_while(|level| level.starts_with(root)).collect();
        if !levels.is_empty() && !directory.is_dir() {
            return None;
        }
        for level in levels.iter().rev() {
            found.add_settings(profile, level, &home);
        }
        for level in levels.iter().rev() {
            let folders = profile.settings_folders.iter().map(|name| level.join(name));
            for folder in folders.filter(|folder| folder.is_dir()) {
                found.add_settings(profile, &folder, &home);
                found.add_agents(&folder, &home);
                found.add_commands(&folder);
                found.skill_folders.extend(["skill", "skills"].map(|name| folder.join(name)));
            }
        }
        Some(found)
    }

    fn add_settings(&mut self, profile: &Profile, folder: &Path, home: &str) {
        for name in profile.next_settings {
            let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
            let Some(Value::Object(said)) = jsonc::read(&text).filter(|_| !text.is_empty()) else {
                continue;
            };
            self.say(said, home);
        }
    }

    fn say(&mut self, said: Map<String, Value>, home: &str) {
        let is_older = said.keys().any(|key| OLDER.contains(&key.as_str()));
        let said = if is_older { renewed(said) } else { Value::Object(said) };
        self.rules.extend(rules(&said, home));
        for (name, agent) in entries(&said["agents"]) {
            self.agents.push((name.clone(), with_places(agent.clone(), home)));
        }
        self.commands.extend(entries(&said["commands"]).map(|(name, said)| (name.clone(), said.clone())));
    }

    fn add_agents(&mut self, folder: &Path, home: &str) {
        let kinds = [("agent", true), ("agents", true), ("mode", false), ("modes", false)];
        for (kind, is_deep) in kinds {
            for (name, front) in markdown(&folder.join(kind), is_deep) {
                let is_older = front.fields.keys().any(|key| !OF_AGENT.contains(&key.as_str()));
                let mut said = front.fields;
                let text = front.text.trim();
                said.insert(if is_older { "prompt" } else { "system" }.to_owned(), json!(text));
                let mut said = if is_older { renewed_agent(said) } else { Value::Object(said) };
                if !is_deep {
                    said["mode"] = json!("primary");
                }
                self.agents.push((name, with_places(said, home)));
            }
        }
    }

    fn add_commands(&mut self, folder: &Path) {
        for kind in ["command", "commands"] {
            for (name, front) in markdown(&folder.join(kind), true) {
                let mut said = front.fields;
                said.insert("template".to_owned(), json!(front.text.trim()));
                self.commands.push((name, Value::Object(said)));
            }
        }
    }

    /// The skills, as they were when somebody first asked for them.
    pub(crate) fn skills(&self) -> &[Value] {
        self.skills.get_or_init(|| self.skill_folders.iter().flat_map(|folder| skills(folder)).collect())
    }
}

/// A skill is a folder with its file, or a file at the top.
fn skills(folder: &Path) -> Vec<Value> {
    let mut paths: Vec<PathBuf> = files_below(folder).collect();
    paths.retain(|path| {
        let is_at_top = path.parent() == Some(folder) && path.extension().is_some_and(|end| end == "md");
        is_at_top || path.file_name().is_some_and(|name| name == super::skills::MARK)
    });
    paths.sort();
    let read = paths.iter().filter_map(|path| {
        let front = Front::read(&fs::read_to_string(path).ok()?)?;
        let at_top = path.file_stem().filter(|_| path.parent() == Some(folder));
        let named = front.fields.get("name").cloned();
        let name = named.or_else(|| at_top.map(|name| json!(name.to_string_lossy())))?;
        let mut told = json!({"name": name});
        for key in ["description", "slash"] {
            if let Some(said) = front.fields.get(key) {
                told[key] = said.clone();
            }
        }
        told["location"] = json!(path.to_string_lossy());
        told["content"] = json!(front.text);
        Some(told)
    });
    read.collect()
}

/// The Markdown files of a kind, by the name that their place gives them.
fn markdown(folder: &Path, is_deep: bool) -> Vec<(String, Front)> {
    let mut paths: Vec<PathBuf> =
        files_below(folder).filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    paths.retain(|path| is_deep || path.parent() == Some(folder));
    paths.sort();
    let read = paths.iter().filter_map(|path| {
        let name = path.strip_prefix(folder).ok()?.with_extension("");
        Some((name.to_string_lossy().into_owned(), Front::read(&fs::read_to_string(path).ok()?)?))
    });
    read.collect()
}

fn entries(of: &Value) -> impl Iterator<Item = (&String, &Value)> {
    of.as_object().into_iter().flatten()
}

/// Settings in the words of the older generation, in those of the next.
fn renewed(settings: Map<String, Value>) -> Value {
    let agents = ["agent", "mode"].into_iter().flat_map(|kind| {
        entries(settings.get(kind).unwrap_or(&Value::Null)).filter_map(move |(name, said)| {
            let mut said = renewed_agent(said.as_object()?.clone());
            if kind == "mode" {
                said["mode"] = json!("primary");
            }
            Some((name.clone(), said))
        })
    });
    let tools = Value::Object(settings.get("tools").map(of_tools).unwrap_or_default());
    let permission = permissions(settings.get("permission").cloned().unwrap_or_default());
    let mut all = renewed_rules(&tools);
    all.extend(renewed_rules(&permission));
    json!({
        "permissions": all,
        "agents": agents.collect::<Map<_, _>>(),
        "commands": settings.get("command"),
    })
}

fn renewed_agent(mut said: Map<String, Value>) -> Value {
    whole_agent(&mut said);
    let mut body = said.get("options").and_then(Value::as_object).cloned().unwrap_or_default();
    for key in ["temperature", "top_p"] {
        body.extend(said.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    let mut told = Map::new();
    if !body.is_empty() {
        told.insert("request".to_owned(), json!({"body": body}));
    }
    let rules = renewed_rules(said.get("permission").unwrap_or(&Value::Null));
    if !rules.is_empty() {
        told.insert("permissions".to_owned(), Value::Array(rules));
    }
    let same = ["model", "variant", "description", "mode", "hidden", "color", "steps"].map(|key| (key, key));
    for (old, new) in same.into_iter().chain([("prompt", "system"), ("disable", "disabled")]) {
        told.extend(said.get(old).map(|value| (new.to_owned(), value.clone())));
    }
    Value::Object(told)
}

fn renewed_rules(permission: &Value) -> Vec<Value> {
    let rule = |action: &str, resource: &str, effect: &Value| json!({"action": action, "resource": resource, "effect": effect});
    let mut rules = Vec::new();
    for (action, said) in entries(permission) {
        match said {
            Value::Object(patterns) => {
                rules.extend(patterns.iter().map(|(pattern, effect)| rule(action, pattern, effect)));
            }
            Value::Null => {}
            effect => rules.push(rule(action, "*", effect)),
        }
    }
    rules
}

fn with_places(mut agent: Value, home: &str) -> Value {
    let rules = rules(&agent, home);
    if !rules.is_empty() {
        agent["permissions"] = Value::Array(rules);
    }
    agent
}

fn rules(of: &Value, home: &str) -> Vec<Value> {
    let mut rules = of["permissions"].as_array().cloned().unwrap_or_default();
    for rule in &mut rules {
        if let (Some(action), Some(pattern)) = (rule["action"].as_str(), rule["resource"].as_str())
            && OF_PATHS.contains(&action)
        {
            rule["resource"] = json!(at_home(pattern, home));
        }
    }
    rules
}
