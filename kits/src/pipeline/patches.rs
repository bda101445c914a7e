//! The patches of agents, each put on the beginning again.

use super::phases::{PHASES, Phase};
use super::repository::{Repository, SECRET, names, runs};
use crate::scene::{Troubled, our_fault};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

impl Repository {
    /// Each patch, put on the beginning again: does it give what its agent has made? Of one that has failed nothing stands
    /// in the checkout. Where another agent of the case has worked in the same file, no patch alone gives it: that one is
    /// not put on anything. Of each, which files it is about.
    pub(super) fn patches(
        &self,
        issue: &str,
        phases: &[&Phase],
        fails: Option<&str>,
    ) -> Result<Vec<Value>, Troubled> {
        let folder = self.root.join(".kilo/logs/diffs");
        let mut seen = Vec::new();
        for name in names(&folder).iter().filter(|name| name.ends_with(".patch")) {
            let path = folder.join(name);
            let agent = PHASES.iter().find(|phase| *name == format!("{issue}-{}.patch", phase.agent));
            let is_shared = |own: &&Phase| {
                let mut others = phases.iter().filter(|other| other.agent != own.agent);
                others.any(|other| other.files.iter().any(|file| own.files.contains(file)))
            };
            let about = self.about(&path);
            let all: Option<Vec<&str>> = agent.map(|agent| {
                let own = PHASES.iter().filter(|phase| phase.agent == agent.agent);
                own.flat_map(|phase| phase.files.iter().copied()).collect()
            });
            let text = fs::read_to_string(&path).unwrap_or_default();
            let secret = text.contains(SECRET);
            if agent.as_ref().is_some_and(is_shared) {
                seen.push(json!({"file": name, "about": about, "secret": secret, "files": all}));
                continue;
            }
            let copy = tempfile::tempdir().map_err(|error| our_fault(error.to_string()))?;
            let root = self.root.to_string_lossy().into_owned();
            let place = copy.path().to_string_lossy().into_owned();
            self.git(&["clone", "--quiet", "--no-checkout", &root, &place])?;
            let patch = path.to_string_lossy().into_owned();
            let applied = self
                .git_in(copy.path(), &["checkout", "--quiet", &self.base])
                .and_then(|_| without_objects(copy.path()))
                .and_then(|()| self.git_in(copy.path(), &["init", "--quiet", "--template="]))
                .and_then(|_| self.git_in(copy.path(), &["apply", "--binary", &patch]));
            let files: Vec<&str> = PHASES
                .iter()
                .filter(|phase| {
                    agent.is_some_and(|agent| agent.agent == phase.agent) && Some(phase.name) != fails
                })
                .flat_map(|phase| phase.files.iter().copied())
                .collect();
            let differ: Vec<&str> = files
                .into_iter()
                .filter(|file| content(&copy.path().join(file)) != content(&self.root.join(file)))
                .collect();
            seen.push(json!({
                "file": name, "agent": agent.map(|phase| phase.agent), "why": applied.err(), "differ": differ,
                "about": about, "secret": secret, "files": all,
            }));
        }
        Ok(seen)
    }

    /// The files that a patch changes, as git reads it: none where it is empty, or no patch.
    fn about(&self, patch: &Path) -> BTreeSet<String> {
        let patch = patch.to_string_lossy().into_owned();
        let read = self.git_in(&self.root, &["apply", "--numstat", "-z", &patch]).unwrap_or_default();
        // Each is "added, removed, name"; of a rename the name is empty, and the old and the new one follow.
        let names = read.split_terminator('\0').filter_map(|line| line.rsplit('\t').next());
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }
}

/// A patch is a whole one: whoever has the beginning alone can put it there. So what it is put on has none of the objects that
/// an agent has made, which git would take in place of bytes that the patch only names.
fn without_objects(place: &Path) -> Result<(), String> {
    fs::remove_dir_all(place.join(".git")).map_err(|error| format!("failed to make a bare place: {error}"))
}

/// What a file holds, and whether it can be run; nothing if there is none.
fn content(path: &Path) -> Option<(Vec<u8>, bool)> {
    Some((fs::read(path).ok()?, runs(path)))
}
