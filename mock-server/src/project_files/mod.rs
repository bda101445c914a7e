//! What the files of a workspace say to a server when an instance begins: settings, agents, commands and skills, each where
//! the server looks for it. As the real servers do, it leaves its marks there.
//!
//! * `front` — Markdown with fields before it; `jsonc` — settings as people write them.
//! * `next` — the same files, as the next generation reads them.

mod front;
mod jsonc;
mod next;

use crate::profile::Profile;
use crate::world::{Skill, merge};
use front::Front;
pub(crate) use next::NextFiles;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Where skills lie beside a server's own folders.
const SKILLS_OF_OTHERS: [&str; 2] = [".claude", ".agents"];
/// The file that makes a folder a skill.
const SKILL: &str = "SKILL.md";

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFiles {
    /// The settings, with the agents and commands that have files of their own.
    pub settings: Map<String, Value>,
    /// The skills, in the order in which they are found.
    pub skills: Vec<Skill>,
}

impl ProjectFiles {
    /// Reads the files of a workspace as the server does when an instance begins.
    pub(crate) fn read(profile: &Profile, root: &Path, home: &Path) -> Self {
        let mut found = Self::default();
        for name in profile.project_settings {
            found.add(&settings_in(profile, (root, home), &root.join(name)));
        }
        let folders = profile.settings_folders.iter().map(|name| root.join(name));
        let folders: Vec<PathBuf> = folders.filter(|folder| folder.is_dir()).collect();
        for folder in &folders {
            for name in profile.folder_settings {
                found.add(&settings_in(profile, (root, home), &folder.join(name)));
            }
            let mark = folder.join(".gitignore");
            if !mark.exists() {
                // Who may not write there does without.
                let _ = fs::write(mark, profile.settings_ignored);
            }
            let named = |kinds: &[&str; 2], front: fn(String, Front) -> Value| {
                markdown(profile, folder, kinds)
                    .map(|(name, read)| (name.clone(), front(name, read)))
                    .collect()
            };
            let commands: Map<String, Value> = named(&["command", "commands"], command);
            let agents: Map<String, Value> = named(&["agent", "agents"], agent);
            let modes: Map<String, Value> = named(&["mode", "modes"], mode);
            for (key, all) in [("command", commands), ("agent", agents), ("agent", modes)] {
                if !all.is_empty() {
                    found.add(&json!({key: all}));
                }
            }
        }
        let others = SKILLS_OF_OTHERS.iter().map(|name| root.join(name).join("skills"));
        let own = folders.iter().flat_map(|folder| ["skill", "skills"].map(|name| folder.join(name)));
        found.skills = others.chain(own).flat_map(|folder| skills(profile, &folder)).collect();
        found
    }

    fn add(&mut self, settings: &Value) {
        merge_settings(&mut self.settings, settings);
    }
}

/// Instructions come together; all else is merged.
pub(crate) fn merge_settings(into: &mut Map<String, Value>, from: &Value) {
    const LIST: &str = "instructions";
    let both = [into.get(LIST), from.get(LIST)];
    let mut all: Vec<Value> = Vec::new();
    for one in both.into_iter().flatten().filter_map(Value::as_array).flatten() {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
    merge(into, from);
    if !all.is_empty() {
        into.insert(LIST.to_owned(), Value::Array(all));
    }
}

/// The settings in a file; one that can't be read says nothing. A file without a schema gets it.
fn settings_in(profile: &Profile, (root, home): (&Path, &Path), file: &Path) -> Value {
    let Ok(text) = fs::read_to_string(file) else { return json!({}) };
    if is_distrusted(profile, &text) {
        return json!({});
    }
    let Some(Value::Object(mut settings)) = jsonc::read(&with_environment(&text, home)) else {
        return json!({});
    };
    if !settings.contains_key("$schema") {
        let told = jsonc::with_schema(&text, &settings, profile.config_schema, profile.distrusts_files);
        // Who may not write there does without.
        let _ = fs::write(file, told);
    }
    settings.insert("$schema".to_owned(), json!(profile.config_schema));
    let folder = file.parent().unwrap_or(root);
    settings.values_mut().for_each(|value| put_in_files(value, folder, root));
    Value::Object(settings)
}

/// `{env:NAME}` stands for what the server's environment says. That of a stand-in has a home, and nothing of its person's.
fn with_environment(text: &str, home: &Path) -> String {
    let mut pieces = text.split("{env:");
    let mut told = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once('}') {
            Some((name, after)) if !name.is_empty() => {
                if name == "HOME" {
                    told.push_str(&home.to_string_lossy());
                }
                told.push_str(after);
            }
            _ => told.extend(["{env:", piece]),
        }
    }
    told
}

/// `{file:PATH}` stands for what the file holds, if it is one of the workspace.
fn put_in_files(value: &mut Value, folder: &Path, root: &Path) {
    match value {
        Value::String(text) => {
            // What a file says is not looked into again: it may name itself.
            let mut told = String::new();
            let mut rest = text.as_str();
            while let Some((before, (path, after))) =
                rest.split_once("{file:").and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
            {
                let path = folder.join(path).canonicalize().ok().filter(|path| path.starts_with(root));
                let content = path.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
                told.push_str(before);
                told.push_str(content.trim());
                rest = after;
            }
            *text = told + rest;
        }
        Value::Array(all) => all.iter_mut().for_each(|one| put_in_files(one, folder, root)),
        Value::Object(all) => all.values_mut().for_each(|one| put_in_files(one, folder, root)),
        _ => {}
    }
}

/// A server that distrusts a workspace does not tell it what its environment says, and drops a file that asks.
fn is_distrusted(profile: &Profile, text: &str) -> bool {
    profile.distrusts_files && text.contains("{env:")
}

/// The Markdown files below the folders of a kind, by the name that their place gives them.
fn markdown(profile: &Profile, folder: &Path, kinds: &[&str; 2]) -> impl Iterator<Item = (String, Front)> {
    let read = |kind: &Path| -> Vec<(String, Front)> {
        let paths = files_below(kind).filter(|path| path.extension().is_some_and(|ending| ending == "md"));
        let read = paths.filter_map(|path| {
            let text = fs::read_to_string(&path).ok().filter(|text| !is_distrusted(profile, text))?;
            let name = path.strip_prefix(kind).ok()?.with_extension("");
            Some((name.to_string_lossy().into_owned(), Front::read(&text)?))
        });
        read.collect()
    };
    kinds.map(|kind| read(&folder.join(kind))).into_iter().flatten()
}

fn files_below(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter().flatten();
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path)
}

fn command(_: String, front: Front) -> Value {
    const KNOWN: [&str; 5] = ["description", "agent", "model", "variant", "subtask"];
    let mut told = front.fields;
    told.retain(|key, _| KNOWN.contains(&key.as_str()));
    told.insert("template".to_owned(), json!(front.text.trim()));
    Value::Object(told)
}

fn agent(name: String, front: Front) -> Value {
    let mut told = front.fields;
    told.entry("name").or_insert(json!(name));
    told.insert("prompt".to_owned(), json!(front.text.trim()));
    Value::Object(told)
}

fn mode(name: String, front: Front) -> Value {
    let mut told = agent(name, front);
    told["mode"] = json!("primary");
    told
}

fn skills(profile: &Profile, folder: &Path) -> Vec<Skill> {
    let places = files_below(folder).filter(|path| path.file_name().is_some_and(|name| name == SKILL));
    let read = places.filter_map(|path| {
        let text = fs::read_to_string(&path).ok().filter(|text| !is_distrusted(profile, text))?;
        let front = Front::read(&text)?;
        Some(Skill {
            name: front.fields.get("name")?.as_str()?.to_owned(),
            description: front.fields.get("description").and_then(Value::as_str).map(str::to_owned),
            folder: path.parent()?.to_string_lossy().into_owned(),
            location: path.to_string_lossy().into_owned(),
            content: front.text,
        })
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ServerKind;

    #[test]
    fn what_lies_in_the_folders_of_a_server_is_found_and_gets_its_marks() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("opencode.json", "{ \"instructions\": [\"A.md\"], \"username\": \"{file:name.txt}\" } // mine");
        write("name.txt", "somebody, {file:name.txt}\n");
        write(".opencode/opencode.jsonc", "{\"instructions\": [\"B.md\", \"A.md\"],}");
        write(".opencode/agents/deep/er.md", "---\nmode: subagent\n---\nDeep.\n");
        write(".opencode/command/c.md", "C $1\n");
        write(".opencode/skill/knots/SKILL.md", "---\nname: knots\n---\n\nTie.\n");
        write(".kilo/command/d.md", "D\n");
        let found = ProjectFiles::read(Profile::of(ServerKind::Opencode), folder.path(), Path::new("/me"));
        assert_eq!(
            Value::Object(found.settings),
            json!({
                "instructions": ["A.md", "B.md"], "username": "somebody, {file:name.txt}",
                "$schema": "https://opencode.ai/config.json",
                "agent": {"deep/er": {"mode": "subagent", "name": "deep/er", "prompt": "Deep."}},
                "command": {"c": {"template": "C $1"}},
            })
        );
        assert_eq!(found.skills.len(), 1);
        assert_eq!((found.skills[0].name.as_str(), found.skills[0].content.as_str()), ("knots", "\nTie.\n"));
        let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
        assert!(
            read("opencode.json").starts_with("{\n  \"$schema\": \"https://opencode.ai/config.json\", \"in")
        );
        assert!(read(".opencode/.gitignore").contains("node_modules"));
        assert!(!folder.path().join(".kilo/.gitignore").exists());
    }
    #[test]
    fn the_environment_has_a_home_and_nothing_of_its_person() {
        let told = with_environment("{env:HOME}/a {env:PATH}b {env:} {env:c", Path::new("/me"));
        assert_eq!(told, "/me/a b {env:} {env:c");
    }
}
