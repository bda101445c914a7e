//! The folder in which the agent works: snapshots with git's own tree ids, reads and writes that stay inside.

use crate::ignored::{Cases, Ignored};
use crate::world::{FileChange, Found, RestoredFile};
use sha1::{Digest as _, Sha1};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder, and its states so far.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    snapshots: HashMap<String, BTreeMap<String, Vec<u8>>>,
    /// The files of the commit with which it begins.
    committed: Option<BTreeMap<String, Vec<u8>>>,
    /// The files as the snapshots know them: each brings its own folder up to date.
    index: BTreeMap<String, Vec<u8>>,
}

/// The content of a folder, as git sees it.
#[derive(Default)]
struct Tree {
    files: BTreeMap<String, Vec<u8>>,
    folders: BTreeMap<String, Tree>,
}

impl Tree {
    fn of(files: &BTreeMap<String, Vec<u8>>) -> Self {
        let mut tree = Self::default();
        for (path, content) in files {
            let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
            let folders = folders.split('/').filter(|folder| !folder.is_empty());
            let place =
                folders.fold(&mut tree, |tree, name| tree.folders.entry(name.to_owned()).or_default());
            place.files.insert(name.to_owned(), content.clone());
        }
        tree
    }
}

impl Workspace {
    /// `root` must exist; links in its own path are resolved.
    pub fn new(root: &Path) -> std::io::Result<Self> {
        Ok(Self {
            root: root.canonicalize()?,
            snapshots: HashMap::new(),
            committed: None,
            index: BTreeMap::new(),
        })
    }

    /// The folder, without links in its path.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What stands there now is what the folder's first commit holds.
    pub(crate) fn commit(&mut self) {
        self.committed = Some(self.files());
    }

    /// What has changed since that commit, sorted by path.
    pub(crate) fn since_commit(&self) -> Vec<FileChange> {
        self.committed.as_ref().map(|committed| differences(committed, &self.files())).unwrap_or_default()
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        flatten(&read_project(&self.root), "", &mut files);
        files
    }

    /// Keeps the state of a folder of the workspace, with what is known of the others; its name is the id of the git
    /// tree. What is no part of the workspace has no state, and no name.
    pub(crate) fn snapshot(&mut self, directory: &str) -> String {
        let Ok(below) = Path::new(directory).strip_prefix(&self.root) else { return String::new() };
        let below = below.to_string_lossy();
        let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
        let files = self.files();
        self.index.retain(|path, _| !path.starts_with(&prefix));
        self.index.extend(files.into_iter().filter(|(path, _)| path.starts_with(&prefix)));
        let name = hex(&tree_id(&Tree::of(&self.index)));
        self.snapshots.insert(name.clone(), self.index.clone());
        name
    }

    pub(crate) fn changes(&self, from: &str, to: &str) -> Vec<FileChange> {
        let empty = BTreeMap::new();
        let before = self.snapshots.get(from).unwrap_or(&empty);
        let after = self.snapshots.get(to).unwrap_or(&empty);
        differences(before, after)
    }

    pub(crate) fn read(&self, path: &str) -> Result<Found, String> {
        let path = self.inside(path)?;
        let failed = |error| format!("failed to read {}: {error}", path.display());
        match fs::metadata(&path) {
            Ok(place) if place.is_dir() => self.names_in(&path).map(Found::Folder).map_err(failed),
            Ok(_) => fs::read(&path).map(Found::File).map_err(failed),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let beside = path.parent().and_then(|folder| self.names_in(folder).ok());
                Ok(Found::Nothing { beside })
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// All files below a folder; what else stands there as `read` says it.
    pub(crate) fn search(&self, path: &str) -> Result<Found, String> {
        let found = self.read(path)?;
        if !matches!(found, Found::Folder(_)) {
            return Ok(found);
        }
        let mut files = BTreeMap::new();
        flatten(&read_tree(&self.inside(path)?), "", &mut files);
        Ok(Found::Tree(files.into_iter().collect()))
    }

    fn names_in(&self, folder: &Path) -> std::io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let slash = if entry.path().is_dir() { "/" } else { "" };
            names.push(format!("{}{slash}", entry.file_name().to_string_lossy()));
        }
        // Clients are told that the workspace is a repository; a fresh folder need not really be one.
        if folder == self.root && !names.iter().any(|name| name == ".git/") {
            names.push(".git/".to_owned());
        }
        names.sort();
        Ok(names)
    }

    pub(crate) fn write(&self, path: &str, content: &str) -> Result<(), String> {
        let path = self.inside(path)?;
        let failed = |error| format!("failed to write {}: {error}", path.display());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(&path, content).map_err(failed)
    }

    /// Makes files as they were in a snapshot. A file that it does not have goes; one that is named twice stays as it
    /// was made first.
    pub(crate) fn restore(&self, files: &[RestoredFile]) -> Result<(), String> {
        let mut done = BTreeSet::new();
        for RestoredFile { tree, path } in files {
            let Some(snapshot) = self.snapshots.get(tree) else { continue };
            let all = snapshot.iter().map(|(path, content)| (path, Some(content)));
            let one = path.iter().map(|path| (path, snapshot.get(path)));
            let wanted: Vec<_> = if path.is_none() { all.collect() } else { one.collect() };
            for (name, content) in wanted {
                if path.is_some() && !done.insert(name) {
                    continue;
                }
                self.put_back(name, content.map(Vec::as_slice))?;
            }
        }
        Ok(())
    }

    fn put_back(&self, name: &str, content: Option<&[u8]>) -> Result<(), String> {
        let path = self.inside(&format!("{}/{name}", self.root.display()))?;
        let failed = |error| format!("failed to restore {}: {error}", path.display());
        match content {
            Some(content) => {
                if let Some(parent) = path.parent() {
                    fs::create_dir_all(parent).map_err(failed)?;
                }
                fs::write(&path, content).map_err(failed)
            }
            None if path.is_file() => fs::remove_file(&path).map_err(failed),
            None => Ok(()),
        }
    }

    /// The nearest part of the path that exists must resolve to a place inside: links lead nowhere else.
    fn inside(&self, path: &str) -> Result<PathBuf, String> {
        let wanted = PathBuf::from(path);
        let mut existing = wanted.as_path();
        let resolved = loop {
            if existing.symlink_metadata().is_ok() {
                break existing
                    .canonicalize()
                    .map_err(|error| format!("failed to resolve {path}: {error}"))?;
            }
            existing = existing.parent().ok_or_else(|| format!("{path} has no folder"))?;
        };
        if resolved.starts_with(&self.root) {
            Ok(wanted)
        } else {
            Err(format!(
                "standin keeps to its workspace {}: {path} leads to {}",
                self.root.display(),
                resolved.display()
            ))
        }
    }
}

fn differences(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) -> Vec<FileChange> {
    let text = |files: &BTreeMap<String, Vec<u8>>, path: &str| {
        files.get(path).map(|content| String::from_utf8_lossy(content).into_owned())
    };
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path))
        .map(|path| FileChange { path: path.clone(), before: text(before, path), after: text(after, path) })
        .collect()
}

/// The files that git would keep.
fn read_project(root: &Path) -> Tree {
    read_below(root, "", &mut Some(Vec::new()))
}

/// All files.
fn read_tree(folder: &Path) -> Tree {
    read_below(folder, "", &mut None)
}

/// The patterns of the folders above, each with the length of its folder's path.
type Patterns = Vec<(usize, Ignored)>;

/// The files of a folder; without those that are ignored, if there are patterns. Those of the nearest folder decide.
fn read_below(folder: &Path, prefix: &str, patterns: &mut Option<Patterns>) -> Tree {
    let mut tree = Tree::default();
    let Ok(entries) = fs::read_dir(folder) else { return tree };
    let own = fs::read_to_string(folder.join(".gitignore")).ok();
    let above = patterns.as_ref().map(Vec::len);
    if let (Some(patterns), Some(own)) = (patterns.as_mut(), own) {
        patterns.push((prefix.len(), Ignored::read(&own, Cases::Differ)));
    }
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.file_type() else { continue };
        let path = format!("{prefix}{name}{}", if kind.is_dir() { "/" } else { "" });
        if name == ".git" || patterns.as_ref().is_some_and(|patterns| is_ignored(patterns, &path)) {
            continue;
        }
        if kind.is_dir() {
            let inner = read_below(&entry.path(), &path, patterns);
            if !(inner.files.is_empty() && inner.folders.is_empty()) {
                tree.folders.insert(name, inner);
            }
        } else if kind.is_file()
            && let Ok(content) = fs::read(entry.path())
        {
            tree.files.insert(name, content);
        }
    }
    if let (Some(patterns), Some(above)) = (patterns, above) {
        patterns.truncate(above);
    }
    tree
}

fn is_ignored(patterns: &Patterns, path: &str) -> bool {
    let said = patterns.iter().rev().find_map(|(start, ignored)| ignored.says(&path[*start..]));
    said == Some(true)
}

fn flatten(tree: &Tree, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for (name, content) in &tree.files {
        files.insert(format!("{prefix}{name}"), content.clone());
    }
    for (name, inner) in &tree.folders {
        flatten(inner, &format!("{prefix}{name}/"), files);
    }
}

/// Git sorts a folder as if its name ended in a slash.
fn tree_id(tree: &Tree) -> [u8; 20] {
    let mut entries: Vec<(String, &str, &str, [u8; 20])> = Vec::new();
    for (name, content) in &tree.files {
        entries.push((name.clone(), "100644", name, object_id("blob", content)));
    }
    for (name, inner) in &tree.folders {
        entries.push((format!("{name}/"), "40000", name, tree_id(inner)));
    }
    entries.sort();
    let mut body = Vec::new();
    for (_, mode, name, id) in entries {
        body.extend_from_slice(format!("{mode} {name}\0").as_bytes());
        body.extend_from_slice(&id);
    }
    object_id("tree", &body)
}

fn object_id(kind: &str, content: &[u8]) -> [u8; 20] {
    let mut hash = Sha1::new();
    hash.update(format!("{kind} {}\0", content.len()));
    hash.update(content);
    hash.finalize().into()
}

/// The id that git gives a text, as the stand-in's stand-in for the id of a first commit.
#[must_use]
pub fn text_id(text: &str) -> String {
    hex(&object_id("blob", text.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_has_the_name_that_git_gives_its_tree() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("README.md"), "hello\n").unwrap();
        let mut workspace = Workspace::new(folder.path()).unwrap();
        let root = workspace.root().to_string_lossy().into_owned();
        // Both names were seen on the real servers.
        let before = workspace.snapshot(&root);
        assert_eq!(before, "853694aae8816094a0d875fee7ea26278dbf5d0f");
        workspace.write(&format!("{root}/out.txt"), "hello\n").unwrap();
        let after = workspace.snapshot(&root);
        assert_eq!(after, "ce6ea7cc190067e1696263c7a77a94e821c3faba");
        let change = FileChange { path: "out.txt".into(), before: None, after: Some("hello\n".into()) };
        assert_eq!(workspace.changes(&before, &after), [change]);
    }

    #[test]
    fn what_is_ignored_is_in_no_snapshot_and_has_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".gitignore", "a.txt\n");
        write("README.md", "hello\n");
        write("sub/.gitignore", "b.txt\n");
        write("sub/a.txt", "a\n");
        let mut workspace = Workspace::new(folder.path()).unwrap();
        let root = workspace.root().to_string_lossy().into_owned();
        // These names were seen on the real servers.
        assert_eq!(workspace.snapshot(&format!("{root}/sub")), "f525a3588c29a658c5ce8d82ad6adf592cee6d30");
        let whole = "58afcd7512c590a861525a2f4e270152190ef09f";
        assert_eq!(workspace.snapshot(&root), whole);
        assert_eq!(workspace.snapshot(&format!("{root}/sub")), whole);
        assert_eq!(workspace.snapshot("/elsewhere"), "");
        assert!(workspace.since_commit().is_empty());
        workspace.commit();
        write("sub/b.txt", "b\n");
        write("b.txt", "b\n");
        fs::remove_file(folder.path().join("README.md")).unwrap();
        let changed: Vec<String> = workspace.since_commit().into_iter().map(|change| change.path).collect();
        assert_eq!(changed, ["README.md", "b.txt"]);
    }

    #[test]
    fn nothing_leaves_the_folder_by_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(folder.path()).unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
        let path = workspace.root().join("link/new/file.txt").to_string_lossy().into_owned();
        let error = workspace.write(&path, "x").unwrap_err();
        assert!(error.contains("keeps to its workspace"), "{error}");
        assert!(fs::read_dir(outside.path()).unwrap().next().is_none());
        assert!(workspace.read(&path).is_err());
    }

    #[test]
    fn a_place_is_a_file_a_folder_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(folder.path()).unwrap();
        let root = workspace.root().to_string_lossy().into_owned();
        let found = |path: &str| workspace.read(&format!("{root}/{path}")).unwrap();
        workspace.write(&format!("{root}/notes/b.txt"), "b").unwrap();
        workspace.write(&format!("{root}/notes/a/deep.txt"), "x").unwrap();
        let names: Vec<String> = ["a/", "b.txt"].map(str::to_owned).to_vec();
        assert_eq!(found("notes/b.txt"), Found::File(b"b".to_vec()));
        assert_eq!(found("notes"), Found::Folder(names.clone()));
        assert_eq!(found("notes/c.txt"), Found::Nothing { beside: Some(names) });
        assert_eq!(found("nowhere/c.txt"), Found::Nothing { beside: None });
        // Clients are told that the workspace is a repository.
        assert_eq!(workspace.read(&root).unwrap(), Found::Folder(vec![".git/".into(), "notes/".into()]));
    }
}
