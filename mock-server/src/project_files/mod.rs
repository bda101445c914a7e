//! What the files of a workspace say to a server when an instance begins: settings, agents, commands and skills, each where
//! the server looks for it. As the real servers do, it leaves its marks there.
//!
//! * `front` — Markdown with fields before it; `jsonc` — settings as people write them (`jsonc_edit`: entries are set and taken out); `misspelled` — what is no JSON.
//! * `legacy` — what an older generation of the server kept; `elsewhere` — settings in a home, and where the environment says.
//! * `reach` — the folders in which it looks; `skills` — those that lie there.
//! * `references` — what stands in them for something else; `faults` — files that can't be used.
//! * `next` — the same files, as the next generation reads them.

mod elsewhere;
mod faults;
mod front;
mod jsonc;
mod jsonc_edit;
mod legacy;
mod misspelled;
mod next;
mod opinion;
mod reach;
mod references;
mod skills;

use crate::doc::{Operations, SettingsOf};
use crate::profile::Profile;
use crate::world::{Skill, merge};
pub use elsewhere::Elsewhere;
pub(crate) use faults::{Fault, What};
use front::Front;
pub use jsonc::read as read_settings;
pub(crate) use jsonc_edit::{changed as settings_changed, without as settings_without};
pub(crate) use next::NextFiles;
pub(crate) use opinion::opinion;
pub(crate) use reach::Reach;
use references::Places;
use serde_json::{Map, Value, json};
use skills::skills;
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// A file of settings may be of one or the other kind of JSON under each of its names.
const NAMES_OF_ONE: usize = 2;

/// What a server answers that is to change a file of settings in which there is no JSON.
pub(crate) fn settings_error(path: &str, text: &str) -> Option<Value> {
    let words = misspelled::told(text)?;
    Some(Fault { path: path.to_owned(), what: What::NoJson(words) }.error())
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFiles {
    /// The settings, with the agents and commands that have files of their own.
    pub settings: Map<String, Value>,
    /// Those of them that hold in all workspaces.
    pub(crate) of_all: Map<String, Value>,
    /// The last of the files that have these.
    pub(crate) file_of_all: Option<PathBuf>,
    /// The permissions among them that no settings have said: who asks why is told of the agent.
    pub(crate) unclaimed: Value,
    /// The settings that overrule whatever a stand-in is told.
    pub(crate) over: Map<String, Value>,
    /// The skills, in the order in which they are found.
    pub skills: Vec<Skill>,
    /// The files that say what no server understands, in the order in which they are read.
    pub(crate) faults: Vec<Fault>,
}

impl ProjectFiles {
    /// Reads the files about a folder as the server does when an instance begins; `said` are the settings that lie in none
    /// of them.
    pub(crate) fn read(
        profile: &Profile,
        reach: &Reach,
        elsewhere: &Elsewhere,
        said: &Map<String, Value>,
    ) -> Self {
        let settings = legacy::settings(profile, reach.folder(), elsewhere);
        let unclaimed = settings.get("permission").cloned().unwrap_or_default();
        let mut found = Self { settings, unclaimed, ..Self::default() };
        found.read_before(profile, elsewhere);
        let places = Places { root: reach.top(), home: elsewhere.home_or_root() };
        let is_read = !elsewhere.skips_workspace;
        // What a folder says counts more than what those above it say, under each of the names that there are.
        for names in profile.project_settings.chunks(NAMES_OF_ONE).filter(|_| is_read) {
            for file in reach.downwards().flat_map(|folder| names.iter().map(|name| folder.join(name))) {
                found.read_settings(profile, &file, places);
            }
        }
        found.read_skills_of_others(profile, reach, elsewhere);
        let (of_all, of_home) = elsewhere.folders(profile);
        let mut read = |folder: &Path, settings: &[&str]| {
            if folder.is_dir() {
                found.read_folder(profile, folder, settings, places);
            }
        };
        of_all.iter().for_each(|folder| read(folder, &[]));
        // Of those of settings it is the other way round.
        for folder in reach.upwards_at_home().chain(reach.upwards()).filter(|_| is_read) {
            for name in profile.settings_folders {
                read(&folder.join(name), profile.folder_settings);
            }
        }
        of_home.iter().for_each(|folder| read(folder, profile.folder_settings));
        found.read_after(profile, reach.folder(), elsewhere);
        found.read_named_skills(profile, reach, said);
        found
    }

    /// What lies in a folder of settings, which gets its mark.
    fn read_folder(&mut self, profile: &Profile, folder: &Path, settings: &[&str], places: Places) {
        for name in settings {
            self.read_settings(profile, &folder.join(name), places);
        }
        let mark = folder.join(".gitignore");
        if !mark.exists() {
            // Who may not write there does without.
            let _ = fs::write(mark, profile.settings_ignored);
        }
        self.read_markdown(profile, folder, ("command", ["command", "commands"]), command);
        self.read_markdown(profile, folder, ("agent", ["agent", "agents"]), agent);
        self.read_markdown(profile, folder, ("agent", ["mode", "modes"]), mode);
        for name in ["skill", "skills"] {
            self.skills.extend(skills(profile, &folder.join(name)));
        }
    }

    /// The settings in a file; one that can't be read says nothing.
    fn read_settings(&mut self, profile: &Profile, file: &Path, places: Places) {
        let mut unknown = Vec::new();
        let said = settings_in(profile, file, places, &mut unknown);
        let path = file.to_string_lossy().into_owned();
        if !unknown.is_empty() {
            self.faults.push(Fault { path: path.clone(), what: What::Unknown(unknown) });
        }
        match said {
            Ok(said) => merge_settings(&mut self.settings, &said),
            Err(what) => self.faults.push(Fault { path, what }),
        }
    }

    /// The agents or commands that have files of their own.
    fn read_markdown(
        &mut self,
        profile: &Profile,
        folder: &Path,
        (key, kinds): (&str, [&str; 2]),
        told: fn(String, Front) -> Value,
    ) {
        let operations = Operations::of(profile.server);
        let mut all = Map::new();
        for (path, name, front) in markdown(profile, folder, &kinds) {
            let said = told(name.clone(), front);
            let of = if key == "command" { SettingsOf::Command } else { SettingsOf::Agent };
            let mistakes = operations.mistakes(of, &said);
            if mistakes.is_empty() {
                all.insert(name, said);
                continue;
            }
            let what = if key == "command" { What::Command(mistakes) } else { What::Agent(mistakes) };
            self.faults.push(Fault { path: path.to_string_lossy().into_owned(), what });
        }
        if !all.is_empty() {
            merge_settings(&mut self.settings, &json!({key: all}));
        }
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

/// The settings in a file, and what in it nobody knows; one that is not there says nothing. A file without a schema gets
/// it.
fn settings_in(
    profile: &Profile,
    file: &Path,
    places: Places,
    unknown: &mut Vec<String>,
) -> Result<Value, What> {
    let Ok(text) = fs::read_to_string(file) else { return Ok(json!({})) };
    let folder = file.parent().unwrap_or(places.root);
    let Some(mut settings) = said_in(profile, &text, (folder, places), unknown)? else {
        return Ok(json!({}));
    };
    if !settings.contains_key("$schema") {
        let plain = jsonc::read(&text).and_then(|said| said.as_object().cloned());
        let plain = plain.as_ref().unwrap_or(&settings);
        let told = jsonc::with_schema(&text, plain, profile.config_schema, profile.distrusts_files);
        // Who may not write there does without.
        let _ = fs::write(file, told);
        settings.insert("$schema".to_owned(), json!(profile.config_schema));
    }
    Ok(Value::Object(settings))
}

/// The settings in a text of this folder, and what in it nobody knows. None in one that has nothing but space.
fn said_in(
    profile: &Profile,
    text: &str,
    (folder, places): (&Path, Places),
    unknown: &mut Vec<String>,
) -> Result<Option<Map<String, Value>>, What> {
    let told = references::resolved(profile, text, folder, places).map_err(What::Reference)?;
    let Some(said) = jsonc::read(&told) else {
        return misspelled::told(&told).map_or(Ok(None), |words| Err(What::NoJson(words)));
    };
    let operations = Operations::of(profile.server);
    if !profile.stumbles_over_files {
        unknown.extend(unknown_keys(operations, &said));
    }
    let mistakes = operations.mistakes(SettingsOf::Server, &said);
    if !mistakes.is_empty() {
        return Err(What::Mistakes(mistakes));
    }
    // What nobody knows is left out, at every depth.
    match operations.known_settings(said) {
        Value::Object(settings) => Ok(Some(settings)),
        _ => Err(What::Mistakes(mistakes)),
    }
}

/// What settings say that the server does not know.
fn unknown_keys(operations: &Operations, said: &Value) -> Vec<String> {
    let known = operations.fields_of_body("config.update");
    let keys = said.as_object().into_iter().flat_map(Map::keys);
    keys.filter(|key| !known.contains(key)).cloned().collect()
}

/// The Markdown files below the folders of a kind, by the name that their place gives them.
fn markdown(
    profile: &Profile,
    folder: &Path,
    kinds: &[&str; 2],
) -> impl Iterator<Item = (PathBuf, String, Front)> {
    let kinds = kinds.map(|kind| folder.join(kind));
    let all = kinds.iter().flat_map(|kind| files_below(kind).map(move |path| (kind, path)));
    // What lies deeper is found later.
    let (at_top, deeper): (Vec<_>, Vec<_>) = all.partition(|(kind, path)| path.parent() == Some(kind));
    let files = at_top.into_iter().chain(deeper);
    let files = files.filter(|(_, path)| path.extension().is_some_and(|ending| ending == "md"));
    let read = files.filter_map(|(kind, path)| {
        let text = trusted(profile, &path)?;
        let name = path.strip_prefix(kind).ok()?.with_extension("").to_string_lossy().into_owned();
        Some((path, name, Front::read_or_take(&text)))
    });
    read.collect::<Vec<_>>().into_iter()
}

/// The text of a file that does not ask for more than the server tells a workspace.
fn trusted(profile: &Profile, path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().filter(|text| references::distrusted(profile, text).is_none())
}

/// Those of a folder come before those of the folders in it; beyond that the order is the disk's, backwards.
fn files_below(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = WalkDir::new(folder).follow_links(true);
    let entries = entries.sort_by_key(|entry| entry.file_type().is_dir()).into_iter().flatten();
    let files = entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path);
    let mut files: Vec<PathBuf> = files.collect();
    for beside in files.chunk_by_mut(|one, next| one.parent() == next.parent()) {
        beside.reverse();
    }
    files.into_iter()
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
        write("more/bows/SKILL.md", "---\nname: bows\n---\nTie wide.\n");
        let said = json!({"skills": {"paths": ["more", "..", "/nowhere"]}}).as_object().cloned().unwrap();
        let found = ProjectFiles::read(
            Profile::of(ServerKind::Opencode),
            &Reach::only(folder.path()),
            &Elsewhere::default(),
            &said,
        );
        assert_eq!(
            Value::Object(found.settings),
            json!({
                "instructions": ["A.md", "B.md"], "username": "somebody, {file:name.txt}",
                "$schema": "https://opencode.ai/config.json",
                "agent": {"deep/er": {"mode": "subagent", "name": "deep/er", "prompt": "Deep."}},
                "command": {"c": {"template": "C $1"}},
            })
        );
        assert_eq!(found.skills.len(), 2);
        assert_eq!(found.skills[1].name, "bows");
        assert_eq!((found.skills[0].name.as_str(), found.skills[0].content.as_str()), ("knots", "\nTie.\n"));
        let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
        assert!(
            read("opencode.json").starts_with("{\n  \"$schema\": \"https://opencode.ai/config.json\", \"in")
        );
        assert!(read(".opencode/.gitignore").contains("node_modules"));
        assert!(!folder.path().join(".kilo/.gitignore").exists());
    }

    #[test]
    fn of_a_folder_where_the_server_may_not_go_nothing_is_read_or_marked() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join(".kilo/command")).unwrap();
        for (path, text) in [
            ("kilo.json", "{\"username\": \"me\", \"skills\": {\"paths\": [\"more\"]}}"),
            (".kilo/command/c.md", "C\n"),
            (".kilocodemodes", "customModes:\n- slug: x\n  groups: [read]\n"),
            (".kilocodeignore", "x\n"),
        ] {
            fs::write(root.join(path), text).unwrap();
        }
        let project = crate::workspace::Project::of_none();
        let said = json!({"skills": {"paths": ["."]}}).as_object().cloned().unwrap();
        let read = |may_go: bool| {
            let reach = Reach::of(ServerKind::Kilo, root, &project, |to| may_go && to.starts_with(root));
            ProjectFiles::read(Profile::of(ServerKind::Kilo), &reach, &Elsewhere::default(), &said)
        };
        assert_eq!(read(false), ProjectFiles { unclaimed: Value::Null, ..ProjectFiles::default() });
        assert!(!root.join(".kilo/.gitignore").exists());
        let found = read(true).settings;
        let names = ["agent", "command", "permission", "username"];
        assert!(names.iter().all(|name| found.contains_key(*name)), "{found:?}");
    }

    #[test]
    fn commands_are_found_in_the_order_of_the_disk_backwards_and_deep_ones_later() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["zeta", "alpha", "mid", "beta", "omega", "gamma", "eta"];
        for (kind, names) in [("command/deep", &names[..1]), ("command", &names), ("commands", &names[..1])] {
            fs::create_dir_all(folder.path().join(kind)).unwrap();
            for name in names {
                fs::write(folder.path().join(kind).join(format!("{name}.md")), "Do it.\n").unwrap();
            }
        }
        let on_disk = fs::read_dir(folder.path().join("command")).unwrap().map(|entry| entry.unwrap());
        let on_disk = on_disk.filter(|entry| entry.file_type().unwrap().is_file());
        let mut wanted: Vec<String> =
            on_disk.map(|entry| entry.file_name().to_string_lossy().replace(".md", "")).collect();
        wanted.reverse();
        wanted.extend(["zeta".to_owned(), "deep/zeta".to_owned()]);
        let kinds = ["command", "commands"];
        let found = markdown(Profile::of(ServerKind::Opencode), folder.path(), &kinds);
        assert_eq!(found.map(|(_, name, _)| name).collect::<Vec<_>>(), wanted);
    }
}
