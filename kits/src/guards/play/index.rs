//! A workspace is indexed: a repository is made, files of it change, and words are looked for.

use super::Stage;
use super::steps::{Search, Write};
use crate::scene::{Troubled, our_fault};
use serde_json::json;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The repository, below the case's folder.
pub(crate) const REPOSITORY: &str = "repository";
/// An index of a large repository has so long: more than any plan's budget, which is told and not judged.
const LONGEST_BUILD: Duration = Duration::from_secs(120);
/// A change is indexed when it has been quiet for half a second, and some more.
const QUIET_MS: f64 = 1000.0;

impl Stage<'_> {
    pub(super) async fn repository(&mut self, files: usize) -> Result<(), Troubled> {
        let folder = self.scene.folder().join(REPOSITORY);
        let made = tokio::task::spawn_blocking(move || generate(&folder, files)).await;
        let made = made.map_err(io::Error::other).flatten();
        made.map_err(|error| our_fault(format!("failed to make a repository: {error}")))?;
        self.scene.witness("repository", &json!({"files": files}));
        Ok(())
    }

    pub(super) async fn index(&mut self, files: usize) -> Result<(), Troubled> {
        let asked = self.scene.begin("index/build", json!({})).await?;
        // That it refuses is an answer: the checks know what it means.
        let _answer = self.scene.answer_within(asked, LONGEST_BUILD).await?;
        if let Some(kilobytes) = self.scene.memory_kb() {
            self.scene.witness("memory-kb", &json!(kilobytes));
        }
        self.want("index/build", json!({"files": files}));
        Ok(())
    }

    pub(super) async fn write(&mut self, write: &Write) -> Result<(), Troubled> {
        let file = self.scene.folder().join(REPOSITORY).join(&write.path);
        let done = match &write.content {
            Some(content) => fs::write(file, content),
            None => fs::remove_file(file),
        };
        done.map_err(|error| our_fault(format!("{}: {error}", write.path)))?;
        self.scene.person(format!("changes {}", write.path));
        let kind = if write.content.is_some() { "changed" } else { "deleted" };
        self.ask("fs/event", json!({"path": write.path, "kind": kind}), json!({})).await?;
        self.scene.pass(QUIET_MS).await
    }

    pub(super) async fn search(&mut self, search: &Search) -> Result<(), Troubled> {
        self.ask("index/search", json!({"word": search.word}), json!({"finds": search.finds})).await
    }
}

/// Files of a few lines each. Every one has a word that no other has: `only` and its number.
fn generate(folder: &Path, files: usize) -> io::Result<()> {
    for nth in 0..files {
        let part = folder.join(format!("part-{}", nth / 100));
        if nth % 100 == 0 {
            fs::create_dir_all(&part)?;
        }
        let text =
            format!("//! File {nth} of a repository.\n\npub fn only{nth}() -> usize {{\n    {nth}\n}}\n");
        fs::write(part.join(format!("file-{nth}.rs")), text)?;
    }
    Ok(())
}
