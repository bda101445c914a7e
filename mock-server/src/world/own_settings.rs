//! Files that a server's own settings are made of: one server asks about each change to them, whatever the rules say,
//! and takes every yes for this one time.

use super::World;
use super::permission::Wish;
use crate::project_files::opinion;
use serde_json::{Value, json};

/// Folders of settings, at any depth.
const FOLDERS: [&str; 2] = [".kilo", ".kilocode"];
/// What lies in them and belongs to everybody.
const OPEN: &str = "plans/";
/// Files of settings, in the project's folder alone.
const FILES: [&str; 5] = ["kilo.json", "kilo.jsonc", "opencode.json", "opencode.jsonc", "AGENTS.md"];
/// Folders of the person's own settings, below their home.
const AT_HOME: [&str; 3] = [".config/kilo", ".kilocode", ".kilo"];
/// The skills in these are asked about like anything else.
const SKILLS: [&str; 2] = ["skill", "skills"];

impl World {
    /// Does a call want to change the server's own settings, where that is always asked about?
    pub(super) fn is_about_own_settings(&self, wish: &Wish<'_>) -> bool {
        self.profile.asks_about_own_settings && is_about(wish, &self.config.home)
    }
}

impl World {
    /// What is said behind a change to such a file, whose place is this, absolute and seen from the project.
    pub(super) fn opinion_of(&self, path: &str, relative: &str, content: &str) -> String {
        let home = &self.config.home;
        if !self.profile.asks_about_own_settings || !(is_setting(path, home) || is_setting(relative, home)) {
            return String::new();
        }
        opinion(self.profile, path, &path.replacen(home.as_str(), "~", 1), content).unwrap_or_default()
    }
}

/// What such a question says of itself.
pub(super) fn mark(metadata: &mut Value) {
    metadata["disableAlways"] = json!(true);
    metadata["configProtected"] = json!(true);
}

/// Does a question say so?
pub(super) fn is_marked(wire: &Value) -> bool {
    wire["metadata"]["configProtected"] == true
}

fn is_about(wish: &Wish<'_>, home: &str) -> bool {
    let metadata = &wish.metadata;
    match wish.permission {
        "external_directory" => {
            let is_other = metadata.get("filepath").is_some() || metadata["access"] == "read";
            let folders = wish.patterns.iter().map(|pattern| pattern.strip_suffix("/*").unwrap_or(pattern));
            !is_other && folders.into_iter().any(|folder| is_at_home(folder, home) && !is_skill(folder, home))
        }
        "edit" => {
            let named = metadata["filepath"].as_str().into_iter().flat_map(|paths| paths.split(", "));
            let files = metadata["files"].as_array().into_iter().flatten();
            let of_files = files.flat_map(|file| ["filePath", "movePath"].map(|key| file[key].as_str()));
            let patterns = wish.patterns.iter().map(String::as_str);
            patterns.chain(named).chain(of_files.flatten()).any(|path| is_setting(path, home))
        }
        _ => false,
    }
}

fn is_setting(path: &str, home: &str) -> bool {
    if path.starts_with('/') {
        return is_at_home(path, home);
    }
    let path = path.replace('\\', "/");
    let path = super::tools::whole_path(&format!("/{path}"));
    let path = path.trim_start_matches('/');
    let is_closed = |folder: &&str| {
        let places = path.match_indices(folder).filter(|(at, _)| *at == 0 || path[..*at].ends_with('/'));
        let mut behind = places.map(|(at, _)| &path[at + folder.len()..]);
        behind
            .any(|rest| rest.is_empty() || rest.strip_prefix('/').is_some_and(|rest| !rest.starts_with(OPEN)))
    };
    FILES.contains(&path) || FOLDERS.iter().any(is_closed)
}

fn is_at_home(path: &str, home: &str) -> bool {
    AT_HOME.iter().any(|folder| super::folders::within(path, &format!("{home}/{folder}")).is_some())
}

fn is_skill(path: &str, home: &str) -> bool {
    let below = AT_HOME.iter().find_map(|folder| super::folders::within(path, &format!("{home}/{folder}")));
    below.is_some_and(|below| SKILLS.iter().any(|skills| super::folders::within(below, skills).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(permission: &'static str, pattern: &str, metadata: Value) -> bool {
        is_about(
            &Wish { permission, patterns: vec![pattern.to_owned()], metadata, always: Vec::new() },
            "/at/home",
        )
    }

    #[test]
    fn settings_are_known_by_their_place() {
        for path in [
            "AGENTS.md",
            "kilo.json",
            ".kilo",
            ".kilo/a.md",
            "sub/.kilocode/rules/a.md",
            "sub/.kilo",
            "a/../AGENTS.md",
        ] {
            assert!(asks("edit", path, json!({})), "{path}");
        }
        for path in
            ["sub/AGENTS.md", "a.kilo/b", ".kilo/plans/a.md", "sub/.kilo/plans/x", ".kilos/a", "README.md"]
        {
            assert!(!asks("edit", path, json!({})), "{path}");
        }
        assert!(asks("edit", "x", json!({"filepath": "/w/x, /at/home/.config/kilo/kilo.json"})));
        assert!(asks("edit", "x", json!({"files": [{"filePath": "/w/x", "movePath": "/at/home/.kilo/a"}]})));
        assert!(!asks("edit", "x", json!({"filepath": "/w/AGENTS.md"})));
        assert!(!asks("bash", "AGENTS.md", json!({})));
    }

    #[test]
    fn folders_of_settings_outside_are_asked_about_but_for_skills() {
        assert!(asks("external_directory", "/at/home/.config/kilo/*", json!({})));
        assert!(!asks("external_directory", "/at/home/.config/kilo/*", json!({"access": "read"})));
        assert!(!asks("external_directory", "/at/home/.kilo/skills/a/*", json!({})));
        assert!(!asks("external_directory", "/at/home/.config/other/*", json!({})));
    }
}
