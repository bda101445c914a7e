//! The folder in which the agent works: snapshots with git's own tree ids, reads and writes that stay inside.

mod blob;
mod grounds;
mod project;
mod repository;
mod restore;
mod tree;

use crate::world::{Chosen, FileChange, Found, NO_BLOB, RestoredFile, Sight};
use blob::{Blob, Known};
pub(crate) use grounds::Grounds;
pub(crate) use project::{Branches, GLOBAL, Project, git_says, other_worktrees, run_git};
pub(crate) use repository::make as make_repository;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
pub(crate) use tree::names_below;
use tree::{
    Choice, LINK, PLAIN, PROGRAM, Tree, Wanted, as_walked, hex, read_part, read_project, read_tree, tree_id,
};

/// How files are called that hold instructions; of those in one folder the first counts.
const GUIDES: &[&str] = &["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];

/// A file that no snapshot knows yet, and that has more bytes, is in none.
const NEW_MAX: usize = 2 * 1024 * 1024;

/// A folder, and its states so far.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    /// Where the agent may go, too.
    open: Vec<PathBuf>,
    snapshots: HashMap<String, BTreeMap<String, Blob>>,
    /// The files of the commit with which it begins, once anybody has looked at them.
    committed: Option<BTreeMap<String, Blob>>,
    /// The states that are kept begin with all that is committed.
    begins_committed: bool,
    /// The files as the snapshots know them: each brings its own folder up to date. What they know stays while it is as
    /// they know it, though it be ignored by now.
    index: BTreeMap<String, Blob>,
    /// What need not be read again.
    known: Known,
}

impl Workspace {
    /// `root` must exist; links in its own path are resolved.
    pub fn new(root: &Path) -> std::io::Result<Self> {
        Ok(Self {
            root: root.canonicalize()?,
            open: Vec::new(),
            snapshots: HashMap::new(),
            committed: None,
            begins_committed: false,
            index: BTreeMap::new(),
            known: Known::default(),
        })
    }

    /// Lets the agent go to a folder outside, too, where the server that is stood in for lets it.
    #[must_use]
    pub fn and(mut self, folder: &Path) -> Self {
        self.open.extend(folder.canonicalize());
        self
    }

    /// May the agent go there?
    pub(crate) fn lets_into(&self, folder: &Path) -> bool {
        std::iter::once(&self.root).chain(&self.open).any(|open| folder.starts_with(open))
    }

    /// Another folder in which agents of the same server work: they may go to all places of both.
    fn neighbour(&self, root: &Path) -> std::io::Result<Self> {
        let mut other = Self { begins_committed: self.begins_committed, ..Self::new(root)? };
        other.open.clone_from(&self.open);
        other.open.push(self.root.clone());
        Ok(other)
    }

    /// Is this the name of one of its states?
    fn has_kept(&self, state: &str) -> bool {
        self.snapshots.contains_key(state)
    }

    /// The folder, without links in its path.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What stands there now is what the folder's first commit holds. Without it that is what stands there when anybody
    /// looks first: a folder that is somebody's own may be large, and a server that nobody asks does not read it.
    pub(crate) fn commit(&mut self) {
        self.committed = None;
        let _committed = self.files();
    }

    /// The states that are kept begin with all that is committed.
    pub(crate) fn begin_committed(&mut self) {
        self.begins_committed = true;
    }

    /// What has changed since the commit that is checked out, else since that one, sorted by path.
    pub(crate) fn since_commit(&mut self) -> Vec<FileChange> {
        let committed = repository::checked_out(&self.root).or_else(|| self.committed.clone());
        self.since(committed)
    }

    /// What has changed since the commit that is checked out and a branch went apart.
    pub(crate) fn since_branch(&mut self, branch: &str) -> Vec<FileChange> {
        let ask = ["merge-base", branch, "HEAD"].map(str::to_owned);
        let base = git_says(&self.root, &ask);
        let files = base.and_then(|base| repository::at_commit(&self.root, base.trim()));
        if files.is_some() { self.since(files) } else { Vec::new() }
    }

    fn since(&mut self, committed: Option<BTreeMap<String, Blob>>) -> Vec<FileChange> {
        let (mut files, ignored) = self.files_and(&committed.clone().unwrap_or_default());
        files.extend(ignored);
        // Who looks first sees what is there, and that is what is committed then.
        let committed = committed.or_else(|| self.committed.clone());
        committed.map(|committed| differences(&committed, &files)).unwrap_or_default()
    }

    fn files(&mut self) -> BTreeMap<String, Blob> {
        self.files_and(&BTreeMap::new()).0
    }

    /// The files that git would keep, and those of the known ones that it would not.
    fn files_and(
        &mut self,
        others: &BTreeMap<String, Blob>,
    ) -> (BTreeMap<String, Blob>, BTreeMap<String, Blob>) {
        let (files, ignored) = read_project(&self.root, &mut self.known, others.keys());
        if self.committed.is_none() {
            self.committed = Some(files.clone());
            if self.begins_committed {
                self.index.clone_from(&files);
            }
        }
        (files, ignored)
    }

    /// Keeps the state of a folder of the workspace, with what is known of the others; its name is the id of the git
    /// tree. What is no part of the workspace has no state, and no name.
    pub(crate) fn snapshot(&mut self, directory: &str) -> String {
        let Ok(below) = Path::new(directory).strip_prefix(&self.root) else { return String::new() };
        let below = below.to_string_lossy();
        let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
        let index = self.index.clone();
        let (files, ignored) = self.files_and(&index);
        // The first look of all may have filled it.
        let known = std::mem::take(&mut self.index);
        let is_new = |path: &String| !known.contains_key(path);
        let is_too_large = |blob: &Blob| blob.mode != LINK && blob.content.len() > NEW_MAX;
        let kept = files.into_iter().filter(|(path, blob)| !is_new(path) || !is_too_large(blob));
        let kept = kept.chain(ignored.into_iter().filter(|(path, blob)| known.get(path) == Some(blob)));
        self.index = kept.filter(|(path, _)| path.starts_with(&prefix)).collect();
        self.index.extend(known.into_iter().filter(|(path, _)| !path.starts_with(&prefix)));
        let name = hex(&tree_id(&Tree::of(&self.index)));
        self.snapshots.insert(name.clone(), self.index.clone());
        name
    }

    pub(crate) fn changes(&self, from: &str, to: &str) -> Vec<FileChange> {
        let empty = BTreeMap::new();
        let before = self.snapshots.get(from).unwrap_or(&empty);
        let after = self.snapshots.get(to).unwrap_or(&empty);
        let mut changes = differences(before, after);
        // Of what is ignored by now nothing is told.
        let mut wanted = Wanted::below(&self.root);
        changes.retain(|change| wanted.keeps(&change.path));
        changes
    }

    pub(crate) fn read(&self, path: &str) -> Result<Found, String> {
        let path = self.inside(path)?;
        let failed = |error| format!("failed to read {}: {error}", path.display());
        match fs::metadata(&path) {
            Ok(place) if place.is_dir() => self.names_in(&path).map(Found::Folder).map_err(failed),
            Ok(_) => fs::read(&path).map(Found::File).map_err(failed),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                let beside = path.parent().and_then(|folder| self.names_in(folder).ok());
                Ok(Found::Nothing { beside })
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// What there is to read at a place. Of places that are closed only their kind is looked at.
    pub(crate) fn study(&self, path: &str) -> Sight {
        let place = Path::new(path);
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let Ok(real) = place.canonicalize() else {
            let folder = place.parent().and_then(|folder| folder.canonicalize().ok());
            let beside = folder.as_ref().map(|folder| self.names_in(folder).unwrap_or_default());
            let closed = self.inside(path).err();
            let beside = if closed.is_some() { beside.map(|_| Vec::new()) } else { beside };
            let path = folder.map_or_else(|| path.to_owned(), |folder| text(&folder));
            // Who may not look there finds nothing either.
            return Sight { path, found: Found::Nothing { beside }, guides: Vec::new(), closed: None };
        };
        let (found, closed) = match self.read(path) {
            Ok(found) => (found, None),
            Err(why) if real.is_dir() => (Found::Folder(Vec::new()), Some(why)),
            Err(why) => (Found::File(Vec::new()), Some(why)),
        };
        let guides = if closed.is_none() { self.guides(place) } else { Vec::new() };
        Sight { path: text(&real), found, guides, closed }
    }

    fn guides(&self, place: &Path) -> Vec<(String, String)> {
        let folders = place.ancestors().skip(1).take_while(|folder| *folder != self.root);
        let folders = folders.take_while(|folder| folder.starts_with(&self.root));
        let guide = |folder: &Path| {
            let path = GUIDES.iter().map(|name| folder.join(name)).find(|path| path.exists())?;
            let content = fs::read(&path).map(|content| String::from_utf8_lossy(&content).into_owned());
            let is_itself = path == place;
            (!is_itself).then(|| (path.to_string_lossy().into_owned(), content.unwrap_or_default()))
        };
        folders.filter_map(guide).collect()
    }

    /// All files below a folder that git would keep, or are chosen; what else stands there as `read` says it.
    pub(crate) fn search(&self, path: &str, chosen: Option<Chosen>) -> Result<Found, String> {
        let found = self.read(path)?;
        if !matches!(found, Found::Folder(_)) {
            return Ok(found);
        }
        let folder = self.inside(path)?;
        let below = folder.strip_prefix(&self.root).map(|below| below.to_string_lossy().into_owned());
        let below = below.map(|below| if below.is_empty() { below } else { format!("{below}/") });
        let choice = |below: &str| chosen.map(|chosen| Choice::of(&chosen, below));
        let (tree, top, below) = match below {
            Ok(below) => (read_part(&self.root, &below, choice(&below)), &self.root, below),
            Err(_) => (read_tree(&folder, choice("")), &folder, String::new()),
        };
        let files = as_walked(tree, top).into_iter();
        let found =
            files.filter_map(|(path, content)| Some((path.strip_prefix(&below)?.to_owned(), content)));
        Ok(Found::Tree(found.collect()))
    }

    fn names_in(&self, folder: &Path) -> std::io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let slash = if entry.path().is_dir() { "/" } else { "" };
            names.push(format!("{}{slash}", entry.file_name().to_string_lossy()));
        }
        // Clients are told that the workspace is a repository; a fresh folder need not really be one.
        if folder == self.root && !names.iter().any(|name| matches!(name.as_str(), ".git/" | ".git")) {
            names.push(".git/".to_owned());
        }
        names.sort();
        Ok(names)
    }

    /// Writes a file, or takes it away.
    pub(crate) fn put(&self, path: &str, content: Option<String>) -> Result<(), String> {
        let Some(content) = content else {
            let path = self.inside(path)?;
            return fs::remove_file(&path).map_err(|error| trouble(&error, "remove", &path));
        };
        self.write(path, &content)
    }

    pub(crate) fn write(&self, path: &str, content: &str) -> Result<(), String> {
        let path = self.inside(path)?;
        let failed = |error: std::io::Error| trouble(&error, "writeFile", &path);
        match fs::write(&path, content) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if let Some(parent) = path.parent() {
                    fs::create_dir_all(parent).map_err(|error| trouble(&error, "makeDirectory", parent))?;
                }
                fs::write(&path, content).map_err(failed)
            }
            done => done.map_err(failed),
        }
    }

    /// Makes a folder, and those above it.
    pub(crate) fn make_folder(&self, path: &str) -> Result<(), String> {
        let path = self.inside(path)?;
        fs::create_dir_all(&path).map_err(|error| trouble(&error, "makeDirectory", &path))
    }

    /// Makes files as they were in a snapshot. A file that it does not have goes; one that is named twice stays as it
    /// was made first.
    pub(crate) fn restore(&self, files: &[RestoredFile]) -> Result<(), String> {
        for batch in restore::batches(files) {
            for RestoredFile { tree, path } in &batch {
                let Some(snapshot) = self.snapshots.get(tree) else { continue };
                let Some(path) = path else {
                    for (name, content) in snapshot {
                        self.put_back(name, Some(content))?;
                    }
                    continue;
                };
                let is_known = batch.len() == 1 || restore::is_told_as_it_is(path);
                self.put_back(path, snapshot.get(path).filter(|_| is_known))?;
            }
        }
        Ok(())
    }

    fn put_back(&self, name: &str, content: Option<&Blob>) -> Result<(), String> {
        let path = self.inside(&format!("{}/{name}", self.root.display()))?;
        let failed = |error| format!("failed to restore {}: {error}", path.display());
        match content {
            Some(Blob { mode, content, .. }) => {
                if let Some(parent) = path.parent() {
                    fs::create_dir_all(parent).map_err(failed)?;
                }
                if *mode == LINK {
                    fs::remove_file(&path).ok();
                    return symlink(OsStr::from_bytes(content), &path).map_err(failed);
                }
                fs::write(&path, content).map_err(failed)?;
                let mode = if *mode == PROGRAM { 0o755 } else { 0o644 };
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(failed)
            }
            None if path.is_file() || path.is_symlink() => fs::remove_file(&path).map_err(failed),
            None => Ok(()),
        }
    }

    /// The path has to lead to a place inside.
    pub(crate) fn inside(&self, path: &str) -> Result<PathBuf, String> {
        let (wanted, resolved) = (PathBuf::from(path), leads_to(path)?);
        if self.lets_into(&resolved) {
            Ok(wanted)
        } else {
            Err(format!(
                "standin keeps to its workspace {}: {path} leads to {}; --allow-outside lets it go there",
                self.root.display(),
                resolved.display()
            ))
        }
    }
}

/// Where the nearest part of the path resolves to that exists; a link counts by what it names, there or not.
pub(crate) fn leads_to(path: &str) -> Result<PathBuf, String> {
    let mut existing = Path::new(path);
    while existing.symlink_metadata().is_err() {
        existing = existing.parent().ok_or_else(|| format!("{path} has no folder"))?;
    }
    existing.canonicalize().map_err(|error| format!("failed to resolve {path}: {error}"))
}

fn differences(before: &BTreeMap<String, Blob>, after: &BTreeMap<String, Blob>) -> Vec<FileChange> {
    let text = |files: &BTreeMap<String, Blob>, path: &str| {
        files.get(path).map(|blob| String::from_utf8_lossy(&blob.content).into_owned())
    };
    let blob = |files: &BTreeMap<String, Blob>, path: &str| {
        files.get(path).map_or_else(|| NO_BLOB.to_owned(), |blob| hex(&blob.id)[..7].to_owned())
    };
    let mode = |files: &BTreeMap<String, Blob>, path: &str| files.get(path).map_or(PLAIN, |blob| blob.mode);
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path))
        .map(|path| FileChange {
            path: path.clone(),
            before: text(before, path),
            after: text(after, path),
            modes: (mode(before, path), mode(after, path)),
            blobs: (blob(before, path), blob(after, path)),
        })
        .collect()
}

/// What the servers say when the system refuses.
fn trouble(error: &std::io::Error, doing: &str, path: &Path) -> String {
    let kind = match error.kind() {
        ErrorKind::NotFound => "NotFound",
        ErrorKind::PermissionDenied => "PermissionDenied",
        ErrorKind::AlreadyExists => "AlreadyExists",
        ErrorKind::IsADirectory | ErrorKind::NotADirectory => "BadResource",
        ErrorKind::ResourceBusy => "Busy",
        _ => "Unknown",
    };
    format!("{kind}: FileSystem.{doing} ({})", path.display())
}

#[cfg(test)]
mod tests;
