//! A folder as git keeps it: its files with their modes, and the ids of its trees.

use super::blob::{Blob, Known};
use crate::glob::{self, Fits};
use crate::ignored::{Cases, Ignored};
use crate::world::Chosen;
use sha1::{Digest as _, Sha1};
use std::collections::BTreeMap;
use std::fs::{self, FileType};
use std::path::Path;

/// The content of a folder, as git sees it, with what is wanted of each file.
pub(super) struct Tree<F = Blob> {
    pub(super) files: BTreeMap<String, F>,
    pub(super) folders: BTreeMap<String, Self>,
}

impl<F> Default for Tree<F> {
    fn default() -> Self {
        Self { files: BTreeMap::new(), folders: BTreeMap::new() }
    }
}

impl<F: Clone> Tree<F> {
    pub(super) fn of(files: &BTreeMap<String, F>) -> Self {
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

/// Modes of files, in git's words.
pub(super) const PLAIN: &str = "100644";
pub(super) const PROGRAM: &str = "100755";
pub(super) const LINK: &str = "120000";

/// Where a person keeps patterns that are nobody else's.
const EXCLUDE: &str = ".git/info/exclude";
const GITIGNORE: &str = ".gitignore";
/// What ripgrep reads, the strongest first.
const OF_SEARCH: [&str; 3] = [".rgignore", ".ignore", GITIGNORE];
/// What the servers' own search for names reads.
const OF_NAMES: [&str; 2] = [".ignore", GITIGNORE];

/// The files that git would keep, and those of some others that are there though they are ignored.
pub(super) fn read_project<'p>(
    root: &Path,
    known: &mut Known,
    others: impl Iterator<Item = &'p String>,
) -> (BTreeMap<String, Blob>, BTreeMap<String, Blob>) {
    let layers = vec![Layer::of(GITIGNORE, root)];
    let mut sieve = Sieve { layers, wanted: String::new(), choice: None };
    known.look(|read| {
        let files = flat(&read_below(root, "", &mut sieve, read));
        let mut read = |path: &String| {
            let place = root.join(path);
            read(&place, fs::symlink_metadata(&place).ok()?.file_type())
        };
        let others = others.filter(|path| !files.contains_key(*path));
        let others = others.filter_map(|path| Some((path.clone(), read(path)?))).collect();
        (files, others)
    })
}

/// What git would keep of files that it does not know yet, by their names. Patterns are read once: many may have changed.
pub(super) struct Wanted<'r> {
    root: &'r Path,
    exclude: Ignored,
    of_folders: BTreeMap<String, Ignored>,
}

impl<'r> Wanted<'r> {
    pub(super) fn below(root: &'r Path) -> Self {
        Self { root, exclude: patterns_in(&root.join(EXCLUDE)), of_folders: BTreeMap::new() }
    }

    /// Would it keep this one?
    pub(super) fn keeps(&mut self, path: &str) -> bool {
        let below = path.char_indices().filter(|(_, letter)| *letter == '/').map(|(at, _)| &path[..=at]);
        let folders: Vec<&str> = std::iter::once("").chain(below).collect();
        for folder in &folders {
            if !self.of_folders.contains_key(*folder) {
                let own = patterns_in(&self.root.join(folder).join(".gitignore"));
                self.of_folders.insert((*folder).to_owned(), own);
            }
        }
        (1..=folders.len()).all(|depth| {
            let part = folders.get(depth).copied().unwrap_or(path);
            let nearest = folders[..depth].iter().rev();
            let said = nearest.filter_map(|folder| Some((folder, self.of_folders.get(*folder)?)));
            let said = said.into_iter().find_map(|(folder, own)| own.says(&part[folder.len()..]));
            said.or_else(|| self.exclude.says(part)) != Some(true)
        })
    }
}

fn patterns_in(file: &Path) -> Ignored {
    Ignored::read(&fs::read_to_string(file).unwrap_or_default(), Cases::Differ)
}

/// What stands in the files that git would keep, by a choice in those that are chosen. The folder in which somebody looks
/// is looked at though it is ignored.
pub(super) fn read_part(root: &Path, wanted: &str, choice: Option<Choice>) -> Tree<Vec<u8>> {
    let layers = layers_of(&OF_SEARCH, root, in_repository(root));
    let mut sieve = Sieve { layers, wanted: wanted.to_owned(), choice };
    read_below(root, "", &mut sieve, &mut content)
}

/// What stands in all files, or in those that are chosen.
pub(super) fn read_tree(folder: &Path, choice: Option<Choice>) -> Tree<Vec<u8>> {
    let mut sieve = Sieve { layers: Vec::new(), wanted: String::new(), choice };
    read_below(folder, "", &mut sieve, &mut content)
}

/// The files below a folder that the servers' own search for names comes upon. What stands in the files above it holds
/// there too, but not of the folder itself; where there is no project, git's patterns do not, and what is hidden stays so.
pub(crate) fn names_below(folder: &Path, project: &Path) -> Vec<String> {
    let in_project = project.parent().is_some();
    let root = if in_project && folder.starts_with(project) { project } else { folder };
    let below =
        folder.strip_prefix(root).map(|below| below.to_string_lossy().into_owned()).unwrap_or_default();
    let below = if below.is_empty() { below } else { format!("{below}/") };
    let mut layers = layers_of(&OF_NAMES, root, in_project);
    let above = below.char_indices().filter(|(_, letter)| *letter == '/').map(|(at, _)| &below[..=at]);
    for upper in std::iter::once("").chain(above).filter(|upper| *upper != below) {
        layers.iter_mut().for_each(|layer| layer.take(&root.join(upper), upper));
    }
    let shown = Choice { fits: Fits::All, below: String::new(), in_hidden: false };
    let choice = Some(shown).filter(|_| !in_project);
    let mut sieve = Sieve { layers, wanted: String::new(), choice };
    let found = read_below(folder, &below, &mut sieve, &mut |_, kind| kind.is_file().then_some(()));
    flat(&found).into_keys().collect()
}

fn content(path: &Path, kind: FileType) -> Option<Vec<u8>> {
    kind.is_file().then(|| fs::read(path).ok())?
}

/// The patterns of the folders above, each with the length of its folder's path.
type Patterns = Vec<(usize, Ignored)>;

/// All patterns that stand in files of one name.
struct Layer {
    file: &'static str,
    patterns: Patterns,
}

/// Which files and folders are looked at.
struct Sieve {
    /// What is ignored: the first of them that says anything of a path decides.
    layers: Vec<Layer>,
    /// The folder that is looked into.
    wanted: String,
    choice: Option<Choice>,
}

/// Files that are chosen by a pattern, as ripgrep has it: whatever it fits is looked at, be it ignored or hidden.
pub(super) struct Choice {
    fits: Fits,
    /// The folder for whose paths the pattern is.
    below: String,
    in_hidden: bool,
}

impl Choice {
    pub(super) fn of(chosen: &Chosen, below: &str) -> Self {
        let fits = glob::fits(&chosen.pattern);
        Self { fits, below: below.to_owned(), in_hidden: chosen.in_hidden }
    }

    /// Is this path looked at? `None` when it is not the choice that decides.
    fn says(&self, path: &str) -> Option<bool> {
        let own = path.strip_prefix(&self.below).filter(|own| !own.is_empty())?;
        let name = own.trim_end_matches('/');
        let is_hidden = name.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
        let hides = is_hidden && !self.in_hidden;
        match &self.fits {
            Fits::These(Some(wanted)) if wanted.is_match(name) => Some(true),
            Fits::These(_) => (!own.ends_with('/') || hides).then_some(false),
            Fits::Others(unwanted) if unwanted.is_match(name) => Some(false),
            Fits::All | Fits::Others(_) => hides.then_some(false),
        }
    }
}

impl Sieve {
    fn keeps(&self, path: &str) -> bool {
        if path.ends_with('/') && self.wanted.starts_with(path) {
            return true;
        }
        let said = self.choice.as_ref().and_then(|choice| choice.says(path));
        said.unwrap_or_else(|| self.layers.iter().find_map(|layer| layer.ignores(path)) != Some(true))
    }
}

/// The files of a folder; without those that are ignored, if there are patterns. Those of the nearest folder decide.
fn read_below<F>(
    folder: &Path,
    prefix: &str,
    sieve: &mut Sieve,
    read: &mut dyn FnMut(&Path, FileType) -> Option<F>,
) -> Tree<F> {
    let mut tree = Tree::default();
    let Ok(entries) = fs::read_dir(folder) else { return tree };
    let above: Vec<usize> = sieve.layers.iter().map(|layer| layer.patterns.len()).collect();
    for layer in &mut sieve.layers {
        layer.take(folder, prefix);
    }
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.file_type() else { continue };
        let path = format!("{prefix}{name}{}", if kind.is_dir() { "/" } else { "" });
        if name == ".git" || !sieve.keeps(&path) {
            continue;
        }
        if kind.is_dir() {
            let inner = read_below(&entry.path(), &path, sieve, read);
            if !(inner.files.is_empty() && inner.folders.is_empty()) {
                tree.folders.insert(name, inner);
            }
        } else if let Some(file) = read(&entry.path(), kind) {
            tree.files.insert(name, file);
        }
    }
    for (layer, above) in sieve.layers.iter_mut().zip(above) {
        layer.patterns.truncate(above);
    }
    tree
}

/// A folder inside a repository is in it, too.
fn in_repository(root: &Path) -> bool {
    root.ancestors().any(|above| above.join(".git").exists())
}

/// The layers of these files. Where there is no repository, git's patterns are nobody's.
fn layers_of(files: &[&'static str], root: &Path, is_repository: bool) -> Vec<Layer> {
    let is_read = |file: &&&str| **file != GITIGNORE || is_repository;
    files.iter().filter(is_read).map(|file| Layer::of(file, root)).collect()
}

impl Layer {
    fn of(file: &'static str, root: &Path) -> Self {
        let exclude = (file == GITIGNORE).then(|| (0, patterns_in(&root.join(EXCLUDE))));
        Self { file, patterns: exclude.into_iter().collect() }
    }

    /// What a folder says of what lies below it.
    fn take(&mut self, folder: &Path, prefix: &str) {
        if let Ok(own) = fs::read_to_string(folder.join(self.file)) {
            self.patterns.push((prefix.len(), Ignored::read(&own, Cases::Differ)));
        }
    }

    /// What the nearest folder says of a path, if any does.
    fn ignores(&self, path: &str) -> Option<bool> {
        self.patterns.iter().rev().find_map(|(start, ignored)| ignored.says(&path[*start..]))
    }
}

/// The files of a tree in the order in which ripgrep comes upon them: of what the disk tells it looks at the last first.
pub(super) fn as_walked<F>(tree: Tree<F>, folder: &Path) -> Vec<(String, F)> {
    let mut files = Vec::new();
    walk(tree, folder, "", &mut files);
    files
}

fn walk<F>(mut tree: Tree<F>, folder: &Path, prefix: &str, files: &mut Vec<(String, F)>) {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    for name in names.into_iter().rev() {
        if let Some(inner) = tree.folders.remove(&name) {
            walk(inner, &folder.join(&name), &format!("{prefix}{name}/"), files);
        } else if let Some(content) = tree.files.remove(&name) {
            files.push((format!("{prefix}{name}"), content));
        }
    }
}

/// The files of a tree by their paths.
fn flat<F: Clone>(tree: &Tree<F>) -> BTreeMap<String, F> {
    let mut files = BTreeMap::new();
    flatten(tree, "", &mut files);
    files
}

fn flatten<F: Clone>(tree: &Tree<F>, prefix: &str, files: &mut BTreeMap<String, F>) {
    for (name, content) in &tree.files {
        files.insert(format!("{prefix}{name}"), content.clone());
    }
    for (name, inner) in &tree.folders {
        flatten(inner, &format!("{prefix}{name}/"), files);
    }
}

/// The id of a folder's tree.
pub(super) fn tree_id(tree: &Tree) -> [u8; 20] {
    id_of("tree", &encoded_tree(tree))
}

/// A tree as git writes it, which sorts a folder as if its name ended in a slash.
pub(super) fn encoded_tree(tree: &Tree) -> Vec<u8> {
    let mut entries: Vec<(String, &str, &str, [u8; 20])> = Vec::new();
    for (name, blob) in &tree.files {
        entries.push((name.clone(), blob.mode, name, blob.id));
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
    body
}

/// The id that git gives to what an object holds.
pub(super) fn id_of(kind: &str, content: &[u8]) -> [u8; 20] {
    Sha1::new().chain_update(format!("{kind} {}\0", content.len())).chain_update(content).finalize().into()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
