//! Paths by their text, and lines that are allowed letter by letter.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde_json::{Value, json};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`.
pub(super) fn folded(path: &Path) -> PathBuf {
    let mut folded = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => drop(folded.pop()),
            Component::Normal(name) => folded.push(name),
            _ => {}
        }
    }
    folded
}

/// Where a path is, when relative ones begin at the first root.
pub(super) fn absolute(roots: &[PathBuf], path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    if path.is_absolute() {
        return Some(folded(path));
    }
    let first = roots.iter().find(|root| root.is_absolute())?;
    Some(folded(&first.join(path)))
}

/// Where a path leads on the disk: what is not there yet is where its folder is.
pub(super) fn leads_to(target: &Path) -> Option<PathBuf> {
    target.ancestors().find_map(|folder| fs::canonicalize(folder).ok())
}

/// What the lines of an ignore file say.
pub(super) fn ignored(lines: &str, mutant: Option<&str>) -> Option<Gitignore> {
    let mut known = GitignoreBuilder::new("");
    for line in lines.lines() {
        let line = match mutant {
            Some("ignores-without-stars") => line.replace('*', "\\*"),
            Some("ignores-at-any-depth") => line.trim_start_matches('/').to_owned(),
            Some("ignores-without-exceptions") if line.starts_with('!') => continue,
            _ => line.to_owned(),
        };
        // A line that is no pattern ignores nothing.
        let _added = known.add_line(None, &line);
    }
    known.build().ok()
}

/// Is a file of the first root ignored?
pub(super) fn is_ignored(known: &Gitignore, name: &Path) -> bool {
    !name.has_root() && known.matched_path_or_any_parents(name, false).is_ignore()
}

fn first_words(line: &str, count: usize) -> String {
    line.split(' ').take(count).collect::<Vec<_>>().join(" ")
}

/// Lines that the person has allowed; none until something is.
#[derive(Clone, Default)]
pub(super) struct AllowList {
    entries: Option<Vec<String>>,
}

impl AllowList {
    pub(super) fn read(value: Value) -> Self {
        Self { entries: serde_json::from_value(value).ok() }
    }

    pub(super) fn told(&self) -> Value {
        json!(self.entries)
    }

    pub(super) fn add(&mut self, line: &str, mutant: Option<&str>) {
        let entry = match mutant {
            Some("remembers-first-word") => first_words(line, 1),
            Some("remembers-two-words") => first_words(line, 2),
            _ => line.to_owned(),
        };
        self.entries.get_or_insert_default().push(entry);
    }

    pub(super) fn allows(&self, line: &str, mutant: Option<&str>) -> bool {
        let Some(entries) = &self.entries else { return mutant == Some("no-list-allows") };
        let begins = |line: &str, words: usize| {
            entries.iter().any(|entry| first_words(entry, words) == first_words(line, words))
        };
        match mutant {
            Some("always-asks") => false,
            Some("begins-allowed") => entries.iter().any(|entry| line.starts_with(entry.as_str())),
            Some("first-word-allowed" | "remembers-first-word") => begins(line, 1),
            Some("remembers-two-words") => begins(line, 2),
            _ => entries.iter().any(|entry| entry == line),
        }
    }
}
