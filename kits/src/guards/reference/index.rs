//! An index of a workspace: all files once, then those that change.

use super::{Reference, text};
use crate::adapter::Screen;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What each file says, by its path below the root.
pub(super) type Index = Mutex<BTreeMap<String, String>>;

impl Reference {
    fn first_root(&self) -> PathBuf {
        self.state().roots.first().cloned().unwrap_or_default()
    }

    pub(super) async fn build(&self) -> Value {
        let root = self.first_root();
        let most = if self.is("indexes-first-thousand") { 1000 } else { usize::MAX };
        let read = tokio::task::spawn_blocking(move || {
            let mut files = BTreeMap::new();
            collect(&root, &root, most, &mut files);
            files
        });
        let files = read.await.unwrap_or_default();
        let count = files.len();
        *self.index.lock().unwrap_or_else(PoisonError::into_inner) = files;
        json!({"files": count})
    }

    /// A file is read again, when it has been quiet.
    pub(super) fn reread(&self, path: &str, screen: &Screen) {
        let root = self.first_root();
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let before = index.get(path).cloned().unwrap_or_default();
        match fs::read_to_string(root.join(path)) {
            Ok(text) if self.is("old-words-stay") => drop(index.insert(path.to_owned(), before + &text)),
            Ok(text) => drop(index.insert(path.to_owned(), text)),
            Err(_) if self.is("deleted-stay") => {}
            Err(_) => drop(index.remove(path)),
        }
        if self.is("rereads-all") {
            for other in index.keys().filter(|other| *other != path) {
                screen.show(json!({"kind": "indexed", "path": other}));
            }
        }
        screen.show(json!({"kind": "indexed", "path": path}));
    }

    pub(super) fn search(&self, params: &Value) -> Value {
        let word = text(&params["word"]);
        let index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let has = |says: &String| says.split(|letter| !is_part(letter)).any(|found| found == word);
        let found: Vec<&String> = index.iter().filter(|(_, says)| has(says)).map(|(path, _)| path).collect();
        json!({"paths": found})
    }
}

fn collect(root: &Path, folder: &Path, most: usize, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, most, files);
        } else if let (Ok(name), Ok(says), true) =
            (path.strip_prefix(root), fs::read_to_string(&path), files.len() < most)
        {
            files.insert(name.display().to_string(), says);
        }
    }
}
