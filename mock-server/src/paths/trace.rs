//! All that lies below a base and in no root, to be held against what lies there later.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What stands at a place: a folder, a link, or a file with its content.
#[derive(Debug, PartialEq, Eq)]
enum Thing {
    Folder,
    Link(PathBuf),
    File(Vec<u8>),
}

/// Everything, by its place.
#[derive(Debug)]
pub(super) struct Trace(BTreeMap<PathBuf, Thing>);

impl Trace {
    /// Looks at all below `base` but what lies in the roots.
    pub(super) fn of(base: &Path, roots: &[String]) -> io::Result<Self> {
        // A root that is not there yet is left out by its text.
        let real = |root: &String| Path::new(root).canonicalize().unwrap_or_else(|_| PathBuf::from(root));
        let roots: Vec<PathBuf> = roots.iter().filter(|root| root.starts_with('/')).map(real).collect();
        let mut trace = Self(BTreeMap::new());
        trace.look(base, &roots)?;
        Ok(trace)
    }

    fn look(&mut self, folder: &Path, roots: &[PathBuf]) -> io::Result<()> {
        if roots.iter().any(|root| folder.starts_with(root)) {
            return Ok(());
        }
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let kind = path.symlink_metadata()?.file_type();
            if roots.contains(&path) {
                continue;
            }
            let thing = if kind.is_symlink() {
                Thing::Link(fs::read_link(&path)?)
            } else if kind.is_dir() {
                self.look(&path, roots)?;
                Thing::Folder
            } else {
                Thing::File(fs::read(&path)?)
            };
            self.0.insert(path, thing);
        }
        Ok(())
    }

    /// The places at which the two differ.
    pub(super) fn differs_from(&self, other: &Self) -> Vec<PathBuf> {
        let changed = self.0.iter().filter(|(path, thing)| other.0.get(*path) != Some(thing));
        let new = other.0.keys().filter(|path| !self.0.contains_key(*path));
        changed.map(|(path, _)| path).chain(new).cloned().collect()
    }
}
