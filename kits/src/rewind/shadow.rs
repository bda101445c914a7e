//! How the reference puts files back: a repository beside the workspace, which is asked by git itself. What is there before
//! is saved first, so that it can be had again.

use super::reference::Ground;
use crate::git::said;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file that each checkpoint has.
const STATE: &str = "state.txt";

/// A shadow repository and the workspace that it follows.
pub(super) struct Shadow<'a> {
    repository: &'a Path,
    workspace: &'a Path,
    mutant: Option<&'static str>,
}

impl<'a> Shadow<'a> {
    /// None where there are no checkpoints.
    pub(super) fn of(ground: &'a Ground, mutant: Option<&'static str>) -> Option<Self> {
        let repository = ground.shadow.as_deref()?;
        Some(Self { repository, workspace: &ground.workspace, mutant })
    }
}

impl Shadow<'_> {
    /// Keeps the tree as it is; its name is given back.
    pub(super) fn save(&self) -> Result<String, String> {
        self.git(&["add", "--all", "."])?;
        if let Some("saves-nameless" | "saves-under-one-name") = self.mutant {
            let tree = self.git(&["write-tree"])?;
            let saved = self.git(&["commit-tree", tree.trim(), "-m", "before a restore"])?;
            if self.mutant == Some("saves-under-one-name") {
                self.git(&["update-ref", "refs/rewind/before", saved.trim()])?;
            }
            return Ok(saved.trim().to_owned());
        }
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "before a restore"])?;
        self.git(&["rev-parse", "HEAD"]).map(|hash| hash.trim().to_owned())
    }

    /// Makes the tree what it was; what was saved and is not in that state goes.
    pub(super) fn restore(&self, hash: &str) -> Result<(), String> {
        let before = self.before_it()?;
        self.git(&["read-tree", "--reset", "-u", hash])?;
        before.iter().try_for_each(|(path, there)| self.spoil(path, there.as_deref()))
    }

    /// What a mutant leaves as it was: files whose names are not plain ones, or links.
    fn before_it(&self) -> Result<Vec<(PathBuf, Option<PathBuf>)>, String> {
        let mut left = Vec::new();
        let entries = fs::read_dir(self.workspace).map_err(|error| error.to_string())?;
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_odd = path.to_str().is_none_or(|name| !name.is_ascii());
            match self.mutant {
                Some("quotes-names") if is_odd => left.push((path, None)),
                Some("writes-through-links") if path.is_symlink() => {
                    let there = fs::read_link(&path).map_err(|error| error.to_string())?;
                    left.push((path, Some(there)));
                }
                _ => {}
            }
        }
        Ok(left)
    }

    /// A link is there still, and what was to stand in its place is written to where it leads; a file is not gone.
    fn spoil(&self, path: &Path, there: Option<&Path>) -> Result<(), String> {
        let failed = |error: std::io::Error| error.to_string();
        match there {
            Some(there) if path.is_file() && !path.is_symlink() => {
                let words = fs::read(path).map_err(failed)?;
                fs::remove_file(path).and_then(|()| symlink(there, path)).map_err(failed)?;
                let target = self.workspace.join(there);
                target
                    .parent()
                    .map_or(Ok(()), fs::create_dir_all)
                    .and_then(|()| fs::write(target, words))
                    .map_err(failed)
            }
            None if !path.exists() => fs::write(path, "kept\n").map_err(failed),
            _ => Ok(()),
        }
    }

    /// A restore that fails half-way: one file is half written, and another one is empty.
    pub(super) fn write_half(&self) -> Result<(), String> {
        let names = self.git(&["ls-files"])?;
        let other = names.lines().find(|name| *name != STATE && !name.starts_with('.'));
        let half = |(name, text): (&str, &str)| {
            fs::write(self.workspace.join(name), text).map_err(|error| format!("{name}: {error}"))
        };
        [(STATE, "half of a sta")].into_iter().chain(other.map(|name| (name, ""))).try_for_each(half)
    }

    /// All files that are saved, or would be, are thrown away, but for those in folders.
    pub(super) fn empty(&self) -> Result<(), String> {
        let names = self.git(&["ls-files", "--cached", "--others", "--exclude-standard"])?;
        let names = names.lines().filter(|name| !name.contains('/'));
        names.for_each(|name| drop(fs::remove_file(self.workspace.join(name))));
        Ok(())
    }

    /// What git ignores is thrown away.
    pub(super) fn clean(&self) -> Result<(), String> {
        self.git(&["clean", "-d", "--force", "-X", "--quiet"]).map(drop)
    }

    /// Keeps the tree in the repository that is the user's.
    pub(super) fn save_in_his_own(&self) -> Result<(), String> {
        for words in [&["add", "--all"][..], &["commit", "--quiet", "--message", "before a restore"]] {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=reference", "-c", "user.email=reference@localhost"]);
            said(git.args(words).current_dir(self.workspace))?;
        }
        Ok(())
    }

    /// What was saved is there again; or the one file alone of which it is known.
    pub(super) fn put_back(&self, saved: &str, alone: bool) -> Result<(), String> {
        match alone {
            true => self.leave(saved, STATE),
            false => self.restore(saved),
        }
    }

    /// A file or a folder is as it was saved, whatever has become of the others.
    pub(super) fn leave(&self, saved: &str, path: &str) -> Result<(), String> {
        self.git(&["checkout", saved, "--", path]).map(drop)
    }

    fn git(&self, words: &[&str]) -> Result<String, String> {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=reference", "-c", "user.email=reference@localhost"]);
        git.args(match self.mutant {
            Some("forgets-modes") => &["-c", "core.fileMode=false"][..],
            Some("writes-links-as-files") => &["-c", "core.symlinks=false"],
            _ => &[],
        });
        git.args(["-c", "core.quotePath=false"]);
        git.arg("--git-dir").arg(self.repository).arg("--work-tree").arg(self.workspace);
        said(git.args(words).current_dir(self.workspace))
    }
}
