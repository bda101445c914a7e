//! Whether work is still somewhere: in a worktree, behind a ref, in a stash. Where a runner keeps it is its own to say.

use super::phases::{PHASES, Phase};
use super::repository::{Repository, UNFINISHED};
use crate::scene::Troubled;
use std::fs;
use std::path::{Path, PathBuf};

impl Repository {
    /// The phases whose work is anywhere, in a worktree or behind a ref; and those whose work is in the checkout.
    pub(super) fn kept(&self, phases: &[&Phase]) -> Result<[Vec<&'static str>; 2], Troubled> {
        let trees = self.trees()?;
        let worktrees = walkdir::WalkDir::new(self.root.join(".kilo/worktrees")).max_depth(6);
        let files: Vec<PathBuf> = worktrees.into_iter().flatten().map(walkdir::DirEntry::into_path).collect();
        let holds = |path: &Path, word: &str| fs::read_to_string(path).is_ok_and(|text| text.contains(word));
        let (mut kept, mut merged) = (Vec::new(), Vec::new());
        for phase in PHASES.iter().filter(|known| phases.iter().any(|phase| phase.name == known.name)) {
            let (file, word) = phase.trace();
            if files.iter().any(|path| path.ends_with(file) && holds(path, word))
                || self.is_behind(&trees, word, &["--", file])
            {
                kept.push(phase.name);
            }
            if holds(&self.root.join(file), word) {
                merged.push(phase.name);
            }
        }
        Ok([kept, merged])
    }

    /// Whatever git keeps: what refs name, and each stash with the files that git did not know.
    fn trees(&self) -> Result<Vec<String>, Troubled> {
        let refs = self.git(&["for-each-ref", "--format=%(refname)"])?;
        let stashes = self.git(&["stash", "list", "--format=%H %P"])?;
        let of_stashes = stashes.lines().flat_map(|line| {
            let hashes: Vec<&str> = line.split_whitespace().collect();
            // The stash itself; and its third parent, if it has one, which holds new files.
            [hashes.first().copied(), hashes.get(3).copied()]
        });
        Ok(refs.lines().chain(of_stashes.flatten()).map(str::to_owned).collect())
    }

    /// Do these words stand behind one of these?
    fn is_behind(&self, trees: &[String], words: &str, places: &[&str]) -> bool {
        let mut asked = vec!["grep", "--quiet", "-F", words];
        asked.extend(trees.iter().map(String::as_str));
        asked.extend(places);
        !trees.is_empty() && self.git_in(&self.root, &asked).is_ok()
    }

    /// Is what was left in a worktree of before still somewhere?
    pub(super) fn has_unfinished(&self) -> Result<bool, Troubled> {
        let folder = walkdir::WalkDir::new(self.root.join(".kilo")).max_depth(8);
        let in_folder = folder
            .into_iter()
            .flatten()
            .any(|entry| fs::read_to_string(entry.path()).is_ok_and(|text| text == UNFINISHED));
        Ok(in_folder || self.is_behind(&self.trees()?, UNFINISHED.trim_end(), &[]))
    }
}
