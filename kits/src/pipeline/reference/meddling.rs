//! Mutants that change what is the person's: a file that nobody was sent to, a setting.

use super::outside::git;
use super::{Pipeline, Runner};
use std::fs;
use std::path::Path;

impl Runner {
    /// Nothing, unless it is one of them.
    pub(super) async fn meddle(&self, asked: &Pipeline) -> Result<(), String> {
        let root = &asked.folder;
        match self.mutant {
            Some("edits-gitignore") => add(&root.join(".gitignore"), ".kilo/worktrees/\n"),
            Some("logs-in-the-checkout") => add(&root.join("runner.log"), "A worktree is made.\n"),
            Some("sets-an-identity") => {
                git(asked, root, &["config", "user.name", "Pipeline"]).await.map(drop)
            }
            _ => Ok(()),
        }
    }
}

/// What an agent has made, without blanks at the ends of lines.
pub(super) fn strip(place: &Path, files: &str) -> Result<(), String> {
    for file in files.lines().map(|file| place.join(file)) {
        // What is no text stays as it is.
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let stripped: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        fs::write(&file, stripped).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn add(path: &Path, line: &str) -> Result<(), String> {
    let before = fs::read_to_string(path).unwrap_or_default();
    if before.contains(line) {
        return Ok(());
    }
    fs::write(path, format!("{before}{line}")).map_err(|error| error.to_string())
}
