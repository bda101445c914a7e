//! What a runner has touched that is the person's: files of the checkout that no agent was sent to, settings, hooks.

use super::phases::PHASES;
use super::repository::{Repository, names};
use crate::scene::Troubled;
use std::collections::BTreeSet;

/// Git changes it by itself.
const OF_GIT: &str = "core.repositoryformatversion=";

impl Repository {
    /// The files of the checkout, committed or not, that are other than at the beginning, or new, and that no agent works
    /// at. What the runner keeps in its own folder is its own, and so is what git ignores.
    pub(super) fn touched(&self) -> Result<BTreeSet<String>, Troubled> {
        let committed = self.git(&[
            "diff",
            "--name-only",
            "--no-renames",
            "-z",
            "--ignore-submodules",
            &self.base,
            "HEAD",
        ])?;
        let begun =
            self.git(&["diff", "--name-only", "--no-renames", "-z", "--ignore-submodules", "HEAD"])?;
        let new = self.git(&["ls-files", "--others", "--exclude-standard", "-z"])?;
        let all = [&committed, &begun, &new].into_iter().flat_map(|names| names.split_terminator('\0'));
        let is_work = |name: &str| PHASES.iter().any(|phase| phase.files.contains(&name));
        Ok(all.filter(|name| !is_work(name) && !name.starts_with(".kilo/")).map(str::to_owned).collect())
    }

    /// What the person has set for this repository, and is not so any more; and hooks that are new.
    pub(super) fn reset(&self) -> Result<Vec<String>, Troubled> {
        let now = self.git(&["config", "--local", "--list"])?;
        let now: Vec<&str> = now.lines().collect();
        let unset = self.settings.iter().filter(|line| !line.starts_with(OF_GIT));
        // Of two lines for one name the last one counts.
        let name = |line: &str| line.split_once('=').map(|(name, _)| name.to_owned());
        let counts = |line: &str| now.iter().rfind(|it| name(it) == name(line)).copied();
        let unset = unset.filter(|line| counts(line) != Some(line.as_str())).cloned();
        let hooks = names(&self.root.join(".git/hooks"));
        Ok(unset.chain(hooks.into_iter().map(|hook| format!("hooks/{hook}"))).collect())
    }
}
