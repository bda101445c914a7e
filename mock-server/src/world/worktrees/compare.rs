//! What a worktree has changed since it left its branch, as Kilo shows it: a list, a summary, or one file.

use super::{Ask, WorktreeWish};
use crate::world::{ApiRequest, Ticket, World, patch};
use serde_json::{Value, json};

/// A file that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// Its path, as git has it.
    pub path: String,
    /// The text before; nothing of a new one.
    pub before: String,
    /// The text now.
    pub after: String,
    /// Lines that are new, and lines that are gone.
    pub lines: (u64, u64),
    /// `added`, `deleted` or `modified`.
    pub status: &'static str,
    /// Does git know it?
    pub is_tracked: bool,
    /// Another one says that it has changed since.
    pub stamp: String,
}

/// How much of it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::world) enum View {
    /// All files, with their texts.
    Whole,
    /// All files, without.
    Summary,
    /// One file.
    File,
}

/// Folders with what programs have made.
const MADE: &[&str] = &[
    "node_modules",
    "bower_components",
    ".pnpm-store",
    "vendor",
    ".npm",
    "dist",
    "build",
    "out",
    ".next",
    "target",
    "bin",
    "obj",
    ".git",
    ".svn",
    ".hg",
    ".vscode",
    ".idea",
    ".turbo",
    ".output",
    "desktop",
    ".sst",
    ".cache",
    ".webkit-cache",
    "__pycache__",
    ".pytest_cache",
    "mypy_cache",
    ".history",
    ".gradle",
];
/// The same, where something lies in them.
const MADE_BELOW: &[&str] = &["logs", "tmp", "temp", "coverage", ".nyc_output"];
/// Files of that kind.
const MADE_FILES: &[&str] = &[".DS_Store", "Thumbs.db"];
/// And their endings.
const MADE_ENDINGS: &[&str] = &[".swp", ".swo", ".pyc", ".log"];

impl World {
    pub(super) fn compare(&mut self, request: &ApiRequest, view: View) {
        let query = |name: &str| {
            let found = request.query.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.clone())
        };
        let folder = self.directory_of(request);
        if self.lacks_folder(&folder) {
            return self.unknown_error(request.ticket);
        }
        let wish = WorktreeWish::Compare {
            folder,
            base: query("base").filter(|base| !base.is_empty()),
            file: query("file").filter(|_| view == View::File),
        };
        self.ask_worktrees(Ask::Compared(request.ticket, view), wish);
    }

    pub(super) fn tell_comparison(&mut self, ticket: Ticket, view: View, files: &[Compared]) {
        let mut wire = files.iter().map(|file| described(file, view));
        let body = match view {
            View::File => wire.next().unwrap_or(Value::Null),
            View::Whole | View::Summary => wire.collect(),
        };
        self.reply_json(ticket, body);
    }
}

fn described(file: &Compared, view: View) -> Value {
    let is_short = view == View::Summary;
    let text = |text: &str| if is_short { String::new() } else { text.to_owned() };
    let patch = match view {
        View::Summary => String::new(),
        _ => patch::index_style(&file.path, &file.before, &file.after, patch::Header::Plain),
    };
    let (mut additions, deletions) = file.lines;
    if !is_short && additions == 0 && !file.is_tracked {
        additions = file.after.lines().count() as u64;
    }
    let mut wire = json!({
        "file": file.path, "patch": patch, "before": text(&file.before), "after": text(&file.after),
        "additions": additions, "deletions": deletions, "status": file.status,
    });
    if view != View::Whole {
        wire["tracked"] = json!(file.is_tracked);
        wire["generatedLike"] = json!(is_made(&file.path));
        wire["summarized"] = json!(is_short);
        wire["stamp"] = json!(file.stamp);
    }
    wire
}

/// Does a path look as if a program had made what lies there?
fn is_made(path: &str) -> bool {
    let mut parts = path.split(['/', '\\']).rev();
    let name = parts.clone().next().unwrap_or_default();
    MADE_FILES.contains(&name)
        || MADE_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || path.split(['/', '\\']).any(|part| MADE.contains(&part))
        || parts.by_ref().skip(1).any(|part| MADE_BELOW.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::is_made;

    #[test]
    fn what_programs_make_is_known_by_its_path() {
        for path in ["dist/a.js", "a/node_modules/b/c", "x.log", "logs/today.txt", "a/.DS_Store", "bin"] {
            assert!(is_made(path), "{path}");
        }
        for path in ["src/a.js", "logs", "catalog", "distant/a", "a.logs"] {
            assert!(!is_made(path), "{path}");
        }
    }
}
