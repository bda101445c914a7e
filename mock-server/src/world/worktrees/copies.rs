//! The folders in which a project is known to lie: an instance of the next generation that begins looks for other
//! worktrees, and tells when there are some that the project did not know.

use super::{Ask, WorktreeWish};
use crate::world::World;
use serde_json::json;

/// How a worktree of git is a copy of a project.
const STRATEGY: &str = "git_worktree";

impl World {
    /// An instance has begun: which worktrees are there?
    pub(in crate::world) fn look_for_copies(&mut self, directory: &str) {
        let Some(project) = self.repository_of(directory).cloned() else { return };
        let known = self.folders_of_project(&project.id);
        let wish = WorktreeWish::List { root: project.worktree, known };
        self.ask_worktrees(Ask::Copies(directory.to_owned()), wish);
    }

    /// They are known; so is what is no longer there.
    pub(super) fn copies_found(&mut self, directory: &str, others: &[String], standing: &[String]) {
        let project = self.project_of(directory);
        if self.learn_folders(&project, others, standing, STRATEGY) {
            self.emit(directory, "project.directories.updated", json!({"projectID": project}));
        }
    }
}
