//! Skills in files: where a server looks for them, and what makes a folder one.

use super::front::Front;
use super::reach::Reach;
use super::{Elsewhere, ProjectFiles, files_below, trusted};
use crate::profile::Profile;
use crate::world::Skill;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Where skills lie beside a server's own folders.
const OF_OTHERS: [&str; 2] = [".claude", ".agents"];
/// The file that makes a folder a skill.
pub(super) const MARK: &str = "SKILL.md";

impl ProjectFiles {
    /// Those that belong to no server, of the home and of the folders within reach.
    pub(super) fn read_skills_of_others(&mut self, profile: &Profile, reach: &Reach, elsewhere: &Elsewhere) {
        for folder in elsewhere.home.iter().map(PathBuf::as_path).chain(reach.upwards()) {
            for name in OF_OTHERS {
                self.skills.extend(skills(profile, &folder.join(name).join("skills")));
            }
        }
    }

    /// Those in the folders that the settings name, unless these lie beyond reach.
    pub(super) fn read_named_skills(&mut self, profile: &Profile, reach: &Reach, said: &Map<String, Value>) {
        let paths = |settings: &Map<String, Value>| settings.get("skills")?.get("paths")?.as_array().cloned();
        let paths = [&self.over, said, &self.settings].into_iter().find_map(paths).unwrap_or_default();
        let named = paths.iter().filter_map(Value::as_str);
        let folders = named.filter_map(|path| reach.folder().join(path).canonicalize().ok());
        let top = reach.top().canonicalize().ok();
        for folder in folders.filter(|folder| top.as_ref().is_some_and(|top| folder.starts_with(top))) {
            self.skills.extend(skills(profile, &folder));
        }
    }
}

/// All below a folder.
pub(super) fn skills(profile: &Profile, folder: &Path) -> Vec<Skill> {
    let places = files_below(folder).filter(|path| path.file_name().is_some_and(|name| name == MARK));
    let read = places.filter_map(|path| {
        let text = trusted(profile, &path)?;
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
