//! Settings that lie elsewhere than in the workspace: in the server's home, and where its environment says. What the
//! environment says comes last and counts most, but for the one file that is read before those of the workspace.

use super::{Fault, Places, ProjectFiles, What, legacy, merge_settings, said_in};
use crate::profile::Profile;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Where a server looks beside its workspace, and what it is told at its start.
#[derive(Debug, Clone, Default)]
pub struct Elsewhere {
    /// The server's home.
    pub home: Option<PathBuf>,
    /// A file of settings (`OPENCODE_CONFIG`), which those of the workspace overrule.
    pub file: Option<PathBuf>,
    /// A folder like those of the workspace (`OPENCODE_CONFIG_DIR`), which overrules it.
    pub folder: Option<PathBuf>,
    /// Settings as text, with the name of the variable that has them (`OPENCODE_CONFIG_CONTENT`). They overrule all files.
    pub text: Option<(String, String)>,
    /// What overrules these, too.
    pub last: Map<String, Value>,
    /// The settings of the workspace are not read.
    pub skips_workspace: bool,
}

/// Settings of all servers of a home, the older names first.
const OLD_NAME: &str = "config.json";

impl Elsewhere {
    /// This home, and nothing else.
    #[must_use]
    pub fn home(home: impl Into<PathBuf>) -> Self {
        Self { home: Some(home.into()), ..Self::default() }
    }

    /// Does somebody give settings beside those of the home and the workspace?
    #[must_use]
    pub fn says_something(&self) -> bool {
        self.file.is_some()
            || self.folder.is_some()
            || self.text.is_some()
            || self.last.contains_key("permission")
    }

    pub(super) fn home_or_root(&self) -> &Path {
        self.home.as_deref().unwrap_or(Path::new("/"))
    }

    /// The folder of the settings of all workspaces.
    fn of_all(&self, profile: &Profile) -> Option<PathBuf> {
        Some(self.home.as_ref()?.join(".config").join(profile.server.word()))
    }

    /// The folders beside those of the workspace: the one that comes before them, and those that come after.
    pub(super) fn folders(&self, profile: &Profile) -> (Option<PathBuf>, Vec<PathBuf>) {
        let of_home =
            self.home.iter().flat_map(|home| profile.settings_folders.iter().map(|name| home.join(name)));
        (self.of_all(profile), of_home.collect())
    }
}

impl ProjectFiles {
    /// What is read before the files of the workspace.
    pub(super) fn read_before(&mut self, profile: &Profile, elsewhere: &Elsewhere) {
        if let Some(folder) = elsewhere.of_all(profile) {
            let mut of_all = Self::default();
            let places = Places { root: &folder, home: elsewhere.home_or_root() };
            for name in [OLD_NAME].iter().chain(profile.project_settings) {
                let mut one = Self::default();
                let file = folder.join(name);
                one.read_settings(profile, &file, places);
                self.file_of_all = Some(file).filter(|file| file.is_file()).or(self.file_of_all.take());
                // Among these instructions replace one another, as all else.
                crate::world::merge(&mut of_all.settings, &Value::Object(one.settings));
                of_all.faults.extend(one.faults);
            }
            legacy::keep_shell(profile, &mut of_all.settings);
            merge_settings(&mut self.settings, &Value::Object(of_all.settings.clone()));
            self.of_all = of_all.settings;
            self.faults.extend(of_all.faults);
        }
        if let Some(file) = &elsewhere.file {
            let folder = file.parent().unwrap_or(Path::new("/"));
            self.read_settings(profile, file, Places { root: folder, home: elsewhere.home_or_root() });
        }
    }

    /// What is read after them.
    pub(super) fn read_after(&mut self, profile: &Profile, root: &Path, elsewhere: &Elsewhere) {
        let home = elsewhere.home_or_root();
        let mut after = Self::default();
        if let Some(folder) = elsewhere.folder.as_ref().filter(|folder| folder.is_dir()) {
            after.read_folder(profile, folder, profile.folder_settings, Places { root: folder, home });
        }
        if let Some((name, text)) = &elsewhere.text {
            after.read_text(profile, name, text, Places { root, home });
        }
        merge_settings(&mut after.settings, &Value::Object(elsewhere.last.clone()));
        self.over = after.settings;
        self.skills.extend(after.skills);
        self.faults.extend(after.faults);
    }

    fn read_text(&mut self, profile: &Profile, name: &str, text: &str, places: Places) {
        let mut unknown = Vec::new();
        let said = said_in(profile, text, (places.root, places), &mut unknown);
        let mut fault = |what| self.faults.push(Fault { path: name.to_owned(), what });
        if !unknown.is_empty() {
            fault(What::Unknown(unknown));
        }
        match said {
            Ok(said) => merge_settings(&mut self.settings, &Value::Object(said.unwrap_or_default())),
            Err(what) => fault(what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Reach;
    use super::*;
    use fixtures::ServerKind;
    use serde_json::json;
    use std::fs;

    /// A home, a workspace and what an environment names, each with a word of its own.
    fn machine() -> (tempfile::TempDir, Elsewhere) {
        let machine = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = machine.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let agent = |says: &str| format!("---\ndescription: {says}\n---\nYou help.\n");
        write("home/.config/opencode/config.json", r#"{"instructions": ["old.md"], "username": "old"}"#);
        write(
            "home/.config/opencode/opencode.json",
            r#"{"instructions": ["all.md"], "small_model": "of/all"}"#,
        );
        write("home/.config/opencode/agent/of-all.md", &agent("of all"));
        write("home/.opencode/agent/of-home.md", &agent("of the home"));
        write("home/.claude/skills/one/SKILL.md", "---\nname: one\ndescription: d\n---\nDo.\n");
        write("own.json", r#"{"instructions": ["own.md"], "username": "own"}"#);
        write("folder/opencode.jsonc", r#"{"small_model": "of/folder"} // mine"#);
        write("folder/command/greet.md", "Say hi.");
        write("workspace/opencode.json", r#"{"username": "project"}"#);
        write("workspace/.opencode/agent/of-project.md", &agent("of the project"));
        let at = |name: &str| machine.path().join(name);
        let elsewhere = Elsewhere {
            file: Some(at("own.json")),
            folder: Some(at("folder")),
            text: Some((
                "CONTENT".to_owned(),
                r#"{"share": "disabled", "permission": {"edit": "ask"}}"#.to_owned(),
            )),
            last: json!({"permission": {"bash": "deny"}}).as_object().cloned().unwrap(),
            ..Elsewhere::home(at("home"))
        };
        (machine, elsewhere)
    }

    fn read(machine: &Path, elsewhere: &Elsewhere) -> ProjectFiles {
        let profile = Profile::of(ServerKind::Opencode);
        ProjectFiles::read(profile, &Reach::only(&machine.join("workspace")), elsewhere, &Map::new())
    }

    #[test]
    fn what_is_nearer_counts_more_and_the_environment_most() {
        let (machine, elsewhere) = machine();
        let found = read(machine.path(), &elsewhere);
        let settings = Value::Object(found.settings);
        assert_eq!(settings["username"], "project");
        assert_eq!(settings["small_model"], "of/all");
        assert_eq!(settings["instructions"], json!(["all.md", "own.md"]));
        let agents: Vec<&String> = settings["agent"].as_object().unwrap().keys().collect();
        assert_eq!(agents, ["of-all", "of-project", "of-home"]);
        let over = Value::Object(found.over);
        assert_eq!(over["small_model"], "of/folder");
        assert_eq!(over["command"]["greet"]["template"], "Say hi.");
        assert_eq!(
            (&over["share"], &over["permission"]),
            (&json!("disabled"), &json!({"edit": "ask", "bash": "deny"}))
        );
        assert_eq!(found.skills.len(), 1);
        assert_eq!(found.faults, []);
    }

    #[test]
    fn a_workspace_may_be_passed_over() {
        let (machine, elsewhere) = machine();
        let settings =
            Value::Object(read(machine.path(), &Elsewhere { skips_workspace: true, ..elsewhere }).settings);
        assert_eq!(settings["username"], "own");
        assert!(settings["agent"].get("of-project").is_none());
        assert!(settings["agent"].get("of-home").is_some());
    }

    #[test]
    fn a_text_that_is_no_settings_is_told_under_its_name() {
        let (machine, elsewhere) = machine();
        let text = Some(("CONTENT".to_owned(), "nonsense".to_owned()));
        let found =
            read(machine.path(), &Elsewhere { text, file: Some("/no/such.json".into()), ..elsewhere });
        let told: Vec<&str> = found.faults.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(told, ["CONTENT"]);
    }
}
