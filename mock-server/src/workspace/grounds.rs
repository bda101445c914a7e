//! All the folders in which agents work: the server's own, and those of other repositories that clients name. Each
//! keeps its own states.

use super::{Project, Workspace};
use crate::world::FileChange;
use std::path::Path;

/// The server's own folder, and the others.
#[derive(Debug)]
pub(crate) struct Grounds {
    own: Workspace,
    others: Vec<Workspace>,
}

impl Grounds {
    pub(crate) fn new(own: Workspace) -> Self {
        Self { own, others: Vec::new() }
    }

    /// The folder of the server.
    pub(crate) fn own(&self) -> &Workspace {
        &self.own
    }

    /// The one to which a path belongs: the nearest above it. What belongs to none is the server's.
    pub(crate) fn of(&mut self, path: &str) -> &mut Workspace {
        let depth = |ground: &Workspace| {
            Path::new(path).starts_with(ground.root()).then(|| ground.root().components().count())
        };
        let own = depth(&self.own);
        match self.others.iter_mut().max_by_key(|ground| depth(ground)) {
            Some(other) if depth(other) > own => other,
            _ => &mut self.own,
        }
    }

    /// Is a folder there, and to which project does it belong? Of a repository where nobody may go nothing is known. What
    /// belongs to that of the server's own folder is known already.
    pub(crate) fn look(&mut self, folder: &str, mark: &str) -> (bool, Option<Project>) {
        let path = Path::new(folder);
        if !path.is_dir() {
            return (false, None);
        }
        let project = Some(Project::of(path, mark)).filter(|project| project.is_repository);
        (true, project.filter(|project| self.holds(Path::new(&project.worktree))))
    }

    /// May an agent work there? Then there is a ground.
    fn holds(&mut self, worktree: &Path) -> bool {
        if worktree == self.own.root() || !self.own.lets_into(worktree) {
            return false;
        }
        if self.others.iter().all(|ground| ground.root() != worktree) {
            let Ok(ground) = self.own.neighbour(worktree) else { return false };
            // A folder that is named by way of a link is no place of its own.
            if ground.root() != worktree {
                return false;
            }
            self.others.push(ground);
        }
        true
    }

    /// What changed between two states, of whichever folder they are: equal states have one name.
    pub(crate) fn changes(&self, from: &str, to: &str) -> Vec<FileChange> {
        let known = self.others.iter().find(|ground| ground.has_kept(from) && ground.has_kept(to));
        known.unwrap_or(&self.own).changes(from, to)
    }
}
