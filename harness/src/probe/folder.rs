//! A folder of agents: which of its files a server reads, and where it would find them in a workspace.

use super::declared::{AGENT_FOLDERS, is_agent, is_settings};
use fixtures::{FileError, ServerKind};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use walkdir::WalkDir;

/// Endings of files that say something and do nothing. Code (plugins, tools of somebody's own) is left where it is.
const TEXTS: [&str; 6] = ["md", "json", "jsonc", "yaml", "yml", "txt"];
/// What is never a folder of agents.
const LEFT_OUT: [&str; 4] = ["node_modules", ".git", "worktrees", "logs"];
/// More than anybody writes by hand.
const LONGEST_TEXT: u64 = 1024 * 1024;
/// Nor so much, or so many files and folders: it is another folder than the one that was meant.
const MOST_TEXT: usize = 16 * 1024 * 1024;
const MOST_ENTRIES: usize = 20_000;

/// The files of a folder of agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFolder {
    /// As it was named.
    pub named: PathBuf,
    /// Path in the workspace → text.
    pub files: BTreeMap<String, String>,
    /// What of the path in the workspace is not part of the path below `named`.
    prefix: String,
    /// What was seen and is not looked at, in words.
    pub notes: Vec<String>,
    /// So many entries were seen, and so many bytes read, in all places together.
    seen: (usize, usize),
}

/// Names of a server's own folders and of its settings.
struct Names {
    folders: &'static [&'static str],
    settings: &'static [&'static str],
}

impl Names {
    fn of(server: ServerKind) -> Self {
        match server {
            ServerKind::Kilo => Self {
                folders: &[".kilo", ".kilocode"],
                settings: &["kilo.json", "kilo.jsonc", "opencode.json", "opencode.jsonc"],
            },
            ServerKind::Opencode => {
                Self { folders: &[".opencode"], settings: &["opencode.json", "opencode.jsonc"] }
            }
        }
    }
}

impl AgentFolder {
    /// Reads a server's own folder (`.kilo`), a project that has one, or any folder with `agents` in it.
    pub fn read(folder: &Path, server: ServerKind) -> Result<Self, FileError> {
        let absolute =
            std::path::absolute(folder).map_err(|error| FileError::io(folder, "find the folder", &error))?;
        if !absolute.is_dir() {
            return Err(FileError::whole(
                folder,
                "is no folder: name the one that holds the agents, such as .kilo",
            ));
        }
        let names = Names::of(server);
        let has = |name: &&str| absolute.join(name).exists();
        let own_name = absolute.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut found = Self {
            named: folder.to_owned(),
            files: BTreeMap::new(),
            prefix: String::new(),
            notes: Vec::new(),
            seen: (0, 0),
        };
        if names.folders.iter().chain(names.settings).any(has) && !names.folders.contains(&own_name) {
            for name in names.folders.iter().chain(names.settings).filter(|name| has(name)) {
                found.take(&absolute, &absolute.join(name))?;
            }
        } else {
            let is_own = names.folders.contains(&own_name);
            if !is_own && !AGENT_FOLDERS.iter().any(|kind| absolute.join(kind).is_dir()) {
                return Err(no_agents(folder));
            }
            let own = if is_own { own_name } else { names.folders[0] };
            found.prefix = format!("{own}/");
            found.take(&absolute, &absolute)?;
            let parent = absolute.parent().unwrap_or(&absolute);
            for beside in names.settings.iter().filter(|name| parent.join(name).is_file()) {
                found.notes.push(format!(
                    "{beside} beside the folder is not looked at: name the folder above with --dir to take both"
                ));
            }
        }
        if !found.files.keys().any(|path| is_agent(path) || is_settings(path)) {
            return Err(no_agents(folder));
        }
        Ok(found)
    }

    #[cfg(test)]
    pub(super) fn of_files(named: PathBuf, files: BTreeMap<String, String>) -> Self {
        Self { named, files, prefix: ".kilo/".to_owned(), notes: Vec::new(), seen: (0, 0) }
    }

    /// A path in the workspace, as whoever named the folder would write it.
    #[must_use]
    pub fn told(&self, path: &str) -> String {
        let below = path.strip_prefix(&self.prefix).unwrap_or(path);
        let told: PathBuf =
            self.named.join(below).components().filter(|part| *part != Component::CurDir).collect();
        told.to_string_lossy().into_owned()
    }

    fn take(&mut self, root: &Path, place: &Path) -> Result<(), FileError> {
        let wanted = |entry: &walkdir::DirEntry| {
            entry.depth() == 0 || !entry.file_name().to_str().is_some_and(|name| LEFT_OUT.contains(&name))
        };
        let mut code = 0;
        for entry in WalkDir::new(place).sort_by_file_name().into_iter().filter_entry(wanted) {
            let entry = entry.map_err(|error| FileError::whole(place, error.to_string()))?;
            // A folder costs a look, too.
            self.seen.0 += 1;
            if self.seen.0 > MOST_ENTRIES || self.seen.1 > MOST_TEXT {
                return Err(FileError::whole(
                    place,
                    format!(
                        "holds more than {MOST_ENTRIES} files and folders or {} MiB of texts: name the folder of the agents alone",
                        MOST_TEXT >> 20
                    ),
                ));
            }
            if !entry.file_type().is_file() {
                continue;
            }
            let path = entry.path();
            let is_text = path.extension().and_then(|it| it.to_str()).is_some_and(|it| TEXTS.contains(&it));
            if !is_text || entry.metadata().is_ok_and(|found| found.len() > LONGEST_TEXT) {
                code += usize::from(path.file_name().is_some_and(|name| name != ".gitignore"));
                continue;
            }
            let below = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
            let text = std::fs::read(path).map_err(|error| FileError::io(path, "read it", &error))?;
            self.seen.1 += text.len();
            self.files.insert(format!("{}{below}", self.prefix), String::from_utf8_lossy(&text).into_owned());
        }
        if code > 0 {
            let place = place.file_name().unwrap_or_default().to_string_lossy();
            self.notes.push(format!("{code} files of {place} are no text (code, pictures) and are left out"));
        }
        Ok(())
    }
}

fn no_agents(folder: &Path) -> FileError {
    FileError::whole(
        folder,
        "holds no agents and no settings: name a folder such as .kilo or .opencode, or the project that has one",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "{}").unwrap();
        }
        folder
    }

    fn files(folder: &Path, server: ServerKind) -> Vec<String> {
        AgentFolder::read(folder, server).unwrap().files.into_keys().collect()
    }

    #[test]
    fn a_folder_is_put_where_the_server_looks_for_it() {
        let all = folder(&["kilo.json", ".kilo/agents/a.md", ".kilo/plugin/p.ts", "src/b.md"]);
        assert_eq!(files(all.path(), ServerKind::Kilo), [".kilo/agents/a.md", "kilo.json"]);
        let own = AgentFolder::read(&all.path().join(".kilo"), ServerKind::Kilo).unwrap();
        assert_eq!(own.files.keys().collect::<Vec<_>>(), [".kilo/agents/a.md"]);
        assert_eq!(own.told(".kilo/agents/a.md"), all.path().join(".kilo/agents/a.md").to_string_lossy());
        assert_eq!(own.notes.len(), 2, "{:?}", own.notes);
        let any = folder(&["agents/deep/a.md"]);
        assert_eq!(files(any.path(), ServerKind::Opencode), [".opencode/agents/deep/a.md"]);
    }

    #[test]
    fn a_folder_without_agents_is_refused() {
        for files in [&[][..], &["notes/a.md", "b.json"], &["agents/a.txt"], &[".kilo/rules/a.md"]] {
            let error = AgentFolder::read(folder(files).path(), ServerKind::Kilo).unwrap_err().to_string();
            assert!(error.contains("holds no agents"), "{error}");
        }
        let error = AgentFolder::read(Path::new("/none/such"), ServerKind::Kilo).unwrap_err().to_string();
        assert!(error.contains("is no folder"), "{error}");
    }

    #[test]
    fn a_folder_of_everything_is_not_read_to_its_end() {
        let much = folder(&["agents/a.md"]);
        for at in 0..18 {
            std::fs::write(much.path().join(format!("{at}.txt")), vec![b'a'; 1024 * 1024]).unwrap();
        }
        let error = AgentFolder::read(much.path(), ServerKind::Kilo).unwrap_err().to_string();
        assert!(error.contains("16 MiB"), "{error}");
    }

    #[test]
    fn folders_count_and_all_places_together() {
        let much = folder(&[".kilo/agents/a.md", ".kilocode/agents/b.md"]);
        for (place, count) in [(".kilo", 12_000), (".kilocode", 9_000)] {
            assert!(AgentFolder::read(much.path(), ServerKind::Kilo).is_ok());
            for at in 0..count {
                std::fs::create_dir(much.path().join(format!("{place}/{at}"))).unwrap();
            }
        }
        let error = AgentFolder::read(much.path(), ServerKind::Kilo).unwrap_err().to_string();
        assert!(error.contains("20000 files and folders"), "{error}");
    }
}
