//! What an older generation of the server kept beside its settings, and the server still reads: modes, workflows, rules,
//! tool servers and ignored files. All of it counts less than any settings.

use super::front::fields;
use super::{Elsewhere, merge_settings, trusted};
use crate::profile::Profile;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the older generation: a server that looks there knows its files.
const OLD_FOLDER: &str = ".kilocode";
const NEW_FOLDER: &str = ".kilo";
/// Where the older generation, an extension of an editor, kept what belongs to no workspace; below the home.
const OF_EDITOR: &str = ".config/Code/User/globalStorage/kilocode.kilo-code";
/// The files of modes below the home.
const MODES_OF_HOME: [&str; 2] = [".kilocode/cli/global/settings/custom_modes.yaml", MODES];
const MODES: &str = ".kilocodemodes";
/// Modes that became agents of the server's own.
const NATIVE: [&str; 6] = ["code", "build", "architect", "ask", "debug", "orchestrator"];
/// Those of them that have rules of their own.
const WITH_RULES: [&str; 5] = ["code", "architect", "ask", "debug", "orchestrator"];
/// What a mode may do, by the older word; what no group of a mode names is denied.
const GROUPS: [(&str, &str); 5] =
    [("read", "read"), ("edit", "edit"), ("browser", "bash"), ("command", "bash"), ("mcp", "mcp")];
/// How much of a workflow's first line describes it.
const DESCRIPTION_MAX: usize = 200;

fn has_past(profile: &Profile) -> bool {
    profile.settings_folders.contains(&OLD_FOLDER)
}

/// Who had settings before shell lines were asked about is not asked about them.
pub(super) fn keep_shell(profile: &Profile, of_all: &mut Map<String, Value>) {
    let says_something = of_all.keys().any(|key| key != "$schema");
    let is_said = match of_all.get("permission") {
        Some(Value::Object(said)) => said.contains_key("bash"),
        Some(word) => word.is_string(),
        None => false,
    };
    if has_past(profile) && says_something && !is_said {
        crate::world::merge(of_all, &json!({"permission": {"bash": "allow"}}));
    }
}

/// The settings that the older files of a workspace and of the home amount to.
pub(super) fn settings(profile: &Profile, root: &Path, elsewhere: &Elsewhere) -> Map<String, Value> {
    let mut found = Map::new();
    if !has_past(profile) {
        return found;
    }
    let home = elsewhere.home.as_deref();
    let told = [
        ("agent", modes(root, home).unwrap_or_default().into()),
        ("command", workflows(profile, root, home).into()),
        ("instructions", rules(root, home)),
        ("mcp", tool_servers(root).into()),
        ("permission", ignored(root, home)),
    ];
    for (key, value) in told {
        if value != json!({}) && value != json!([]) {
            merge_settings(&mut found, &json!({key: value}));
        }
    }
    found
}

/// Custom modes, as agents. `None` when one of the files can't be used: then none of them counts.
fn modes(root: &Path, home: Option<&Path>) -> Option<Map<String, Value>> {
    let of_editor = home.map(|home| home.join(OF_EDITOR).join("settings/custom_modes.yaml"));
    let of_home = home.into_iter().flat_map(|home| MODES_OF_HOME.map(|name| home.join(name)));
    let files = of_editor.into_iter().chain(of_home).chain([root.join(MODES)]);
    let mut agents = Map::new();
    for text in files.filter_map(|file| fs::read_to_string(file).ok()) {
        let said = fields(&text)?;
        for mode in said.get("customModes").and_then(Value::as_array).into_iter().flatten() {
            let slug = mode["slug"].as_str()?;
            if !NATIVE.contains(&slug) {
                agents.insert(slug.to_owned(), agent_of(mode)?);
            }
        }
    }
    Some(agents)
}

fn agent_of(mode: &Value) -> Option<Value> {
    let word = |key: &str| mode[key].as_str().filter(|word| !word.is_empty());
    let prompt: Vec<&str> = ["roleDefinition", "customInstructions"].into_iter().filter_map(word).collect();
    let mut agent = json!({"mode": "primary"});
    if let Some(description) = ["description", "whenToUse", "name"].iter().find_map(|key| mode[key].as_str())
    {
        agent["description"] = json!(description);
    }
    agent["prompt"] = json!(prompt.join("\n\n"));
    agent["permission"] = permission_of(mode["groups"].as_array()?);
    // Who stands in no settings has no options, and none are told.
    agent["options"] = Value::Null;
    Some(agent)
}

/// What the groups of a mode allow.
fn permission_of(groups: &[Value]) -> Value {
    let renamed =
        |group: &str| GROUPS.iter().find(|(old, _)| *old == group).map_or(group, |(_, new)| new).to_owned();
    let mut rules = Map::new();
    for group in groups {
        let (name, bound) = match group {
            Value::Array(both) => (both.first(), both.get(1)),
            one => (Some(one), None),
        };
        let Some(name) = name.and_then(Value::as_str) else { continue };
        let rule = match bound.and_then(|bound| bound["fileRegex"].as_str()) {
            Some(pattern) if !pattern.is_empty() => json!({pattern: "allow", "*": "deny"}),
            _ => json!("allow"),
        };
        rules.insert(renamed(name), rule);
    }
    for (_, name) in GROUPS {
        rules.entry(name).or_insert(json!("deny"));
    }
    Value::Object(rules)
}

/// Workflows, as commands; those of the workspace replace those of the home.
fn workflows(profile: &Profile, root: &Path, home: Option<&Path>) -> Map<String, Value> {
    let of_home = home.into_iter().flat_map(|home| {
        [OF_EDITOR, OLD_FOLDER, NEW_FOLDER].map(|folder| home.join(folder).join("workflows"))
    });
    let own = [OLD_FOLDER, NEW_FOLDER].map(|folder| root.join(folder).join("workflows"));
    let mut commands = Map::new();
    for file in of_home.chain(own).flat_map(|folder| notes_in(&folder)) {
        let Some((text, name)) = trusted(profile, &file).zip(file.file_stem()) else { continue };
        let name = name.to_string_lossy().into_owned();
        let template = text.trim();
        let description = description_of(template).unwrap_or_else(|| format!("Workflow: {name}"));
        commands.insert(name, json!({"template": template, "description": description}));
    }
    commands
}

/// The first line below a title.
fn description_of(template: &str) -> Option<String> {
    let below = template.lines().map(str::trim).skip_while(|line| !line.starts_with('#'));
    let line = below.into_iter().find(|line| !line.is_empty() && !line.starts_with('#'))?;
    Some(line.chars().take(DESCRIPTION_MAX).collect())
}

/// Rules, as files of instructions.
fn rules(root: &Path, home: Option<&Path>) -> Value {
    let mut paths = home.map(|home| notes_of(home, "rules")).unwrap_or_default();
    paths.extend(notes_of(root, "rules"));
    let take_old = |paths: &mut Vec<PathBuf>, name: &str| {
        let old = root.join(name);
        paths.extend(old.is_file().then_some(old));
    };
    take_old(&mut paths, ".kilocoderules");
    for mode in WITH_RULES {
        paths.extend(notes_of(root, &format!("rules-{mode}")));
        take_old(&mut paths, &format!(".kilocoderules-{mode}"));
    }
    paths.iter().map(|path| json!(path.to_string_lossy())).collect()
}

/// The Markdown files of one folder in both generations' places: of two with one name the newer counts.
fn notes_of(root: &Path, folder: &str) -> Vec<PathBuf> {
    let mut notes = notes_in(&root.join(NEW_FOLDER).join(folder));
    for old in notes_in(&root.join(OLD_FOLDER).join(folder)) {
        if notes.iter().all(|note| note.file_name() != old.file_name()) {
            notes.push(old);
        }
    }
    notes
}

/// The tool servers of the older files of a workspace; those of the editor are read for that editor alone.
fn tool_servers(root: &Path) -> Map<String, Value> {
    let own = [OLD_FOLDER, NEW_FOLDER].map(|folder| root.join(folder).join("mcp.json"));
    let mut servers = Map::new();
    for text in own.iter().filter_map(|file| fs::read_to_string(file).ok()) {
        let Ok(said) = serde_json::from_str::<Value>(&text) else { continue };
        for (name, server) in said["mcpServers"].as_object().into_iter().flatten() {
            servers.shift_remove(name);
            if let Some(server) = tool_server(server) {
                servers.insert(name.clone(), server);
            }
        }
    }
    servers
}

/// A tool server in the words of today's settings; one that says too little is none.
fn tool_server(old: &Value) -> Option<Value> {
    let word = |key: &str| old[key].as_str().filter(|word| !word.is_empty());
    let some = |key: &str| old[key].as_object().filter(|all| !all.is_empty());
    let mut server = if matches!(word("type"), Some("streamable-http" | "sse")) {
        json!({"type": "remote", "url": word("url")?})
    } else {
        let mut command = vec![json!(word("command")?)];
        command.extend(old["args"].as_array().into_iter().flatten().cloned());
        json!({"type": "local", "command": command})
    };
    let (old_key, key) =
        if server["type"] == "local" { ("env", "environment") } else { ("headers", "headers") };
    if let Some(all) = some(old_key) {
        server[key] = json!(all);
    }
    if old["disabled"] == true {
        server["enabled"] = json!(false);
    }
    Some(server)
}

/// What is ignored may be neither read nor edited.
fn ignored(root: &Path, home: Option<&Path>) -> Value {
    const NAME: &str = ".kilocodeignore";
    let of_home = home.map(|home| home.join(OLD_FOLDER).join(NAME));
    let texts = of_home.into_iter().chain([root.join(NAME)]).filter_map(|file| fs::read_to_string(file).ok());
    let lines: Vec<String> = texts
        .flat_map(|text| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>())
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    if lines.is_empty() {
        return json!({});
    }
    let mut rules = Map::from_iter([("*".to_owned(), json!("allow"))]);
    let (again, not): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.starts_with('!'));
    rules.extend(not.iter().map(|line| (glob(line), json!("deny"))));
    rules.extend(again.iter().map(|line| (glob(&line[1..]), json!("allow"))));
    json!({"read": rules, "edit": rules})
}

/// A pattern of ignored files, in the language of permissions.
fn glob(pattern: &str) -> String {
    let mut told = pattern.strip_suffix('/').map_or(pattern.to_owned(), |folder| format!("{folder}/*"));
    if let Some(rest) = told.strip_prefix('/') {
        told = rest.to_owned();
    }
    if let Some(rest) = told.strip_prefix("**/") {
        told = format!("*{rest}");
    }
    told = told.replace("**/", "*");
    told.strip_suffix("/**").map_or(told.clone(), |folder| format!("{folder}/*"))
}

/// The Markdown files that lie in a folder, by name.
fn notes_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut notes: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|ending| ending == "md") && path.is_file())
        .collect();
    notes.sort();
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ServerKind;

    #[test]
    fn what_lies_in_a_home_counts_less_than_what_lies_in_the_workspace() {
        let (home, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |folder: &tempfile::TempDir, path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let mode = |slug: &str, role: &str| {
            format!("customModes:\n  - slug: {slug}\n    roleDefinition: {role}\n    groups: [read]\n")
        };
        write(&home, MODES, &mode("x", "Of the home."));
        write(&home, ".kilocode/workflows/w.md", "Of the home.");
        write(&home, ".kilocode/rules/r.md", "Rule.");
        write(&home, ".kilocode/.kilocodeignore", "a.txt\n!b.txt\n");
        write(&root, MODES, &mode("x", "Of the workspace."));
        write(&root, ".kilo/workflows/w.md", "# W\n\nOf the workspace.");
        let told = |server| settings(Profile::of(server), root.path(), &Elsewhere::home(home.path()));
        let found = told(ServerKind::Kilo);
        assert_eq!(found["agent"]["x"]["prompt"], "Of the workspace.");
        assert_eq!(found["command"]["w"]["description"], "Of the workspace.");
        assert!(found["instructions"][0].as_str().unwrap().ends_with("/.kilocode/rules/r.md"));
        let rules = json!({"*": "allow", "a.txt": "deny", "b.txt": "allow"});
        assert_eq!(found["permission"], json!({"read": rules, "edit": rules}));
        assert_eq!(told(ServerKind::Opencode), Map::new());
    }

    #[test]
    fn one_mode_that_says_too_little_spoils_them_all() {
        let root = tempfile::tempdir().unwrap();
        let write = |text: &str| fs::write(root.path().join(MODES), text).unwrap();
        write("customModes:\n  - {slug: a, groups: []}\n  - {slug: b}\n");
        assert_eq!(modes(root.path(), None), None);
        write("customModes:\n  - {slug: a, groups: [mcp]}\n  - {slug: ask, groups: []}\n");
        let permission = json!({"mcp": "allow", "read": "deny", "edit": "deny", "bash": "deny"});
        let found = modes(root.path(), None).unwrap();
        assert_eq!((found.len(), &found["a"]["permission"]), (1, &permission));
    }

    #[test]
    fn whose_settings_are_older_than_the_question_is_not_asked() {
        let kept = |server, said: Value| {
            let mut said = said.as_object().cloned().unwrap();
            keep_shell(Profile::of(server), &mut said);
            said.get("permission").cloned().unwrap_or_default()
        };
        let (kilo, opencode) = (ServerKind::Kilo, ServerKind::Opencode);
        assert_eq!(kept(kilo, json!({"model": "a/b"})), json!({"bash": "allow"}));
        assert_eq!(kept(kilo, json!({"permission": {"bash": "ask"}})), json!({"bash": "ask"}));
        assert_eq!(kept(kilo, json!({"permission": "ask"})), "ask");
        assert_eq!(kept(kilo, json!({"$schema": "x"})), Value::Null);
        assert_eq!(kept(opencode, json!({"model": "a/b"})), Value::Null);
    }
}
