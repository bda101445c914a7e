//! The guard: what it says of a path, and a yes of the person that it does not send.
//!
//! The servers ask for leave to write under the name that the agent used. Who writes through a link writes where the
//! link leads, and no further question is asked; so a yes is held against the disk.

use super::call::Call;
use super::core::Core;
use crate::protocol::{
    Id, LogLevel, PathCheck, PathJudged, PathVerdict, Permission, Reply, RpcError, Update,
};
pub(super) use fixtures::paths::disk::Disk;
use fixtures::paths::realpath::Links;
use serde_json::json;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;

/// What the person is told.
pub(super) const LEADS_OUT: &str = "the path leads out of the workspace, so the agent was told no";

/// What the core looks at on a disk.
pub(super) trait Files: Links {
    /// Who may do what with a file; `None` when there is none.
    fn mode(&self, path: &str) -> Result<Option<u32>, String>;

    /// The same of a link itself.
    fn own_mode(&self, path: &str) -> Result<Option<u32>, String>;

    /// What stands in it.
    fn text(&self, path: &str) -> String;

    /// Copies it, if that is possible.
    fn copy(&self, from: &str, to: &str);

    /// The same, as something that knows links.
    fn links(&self) -> &dyn Links;
}

impl Files for Disk {
    fn mode(&self, path: &str) -> Result<Option<u32>, String> {
        mode_of(std::fs::metadata(path))
    }

    fn own_mode(&self, path: &str) -> Result<Option<u32>, String> {
        mode_of(std::fs::symlink_metadata(path))
    }

    fn text(&self, path: &str) -> String {
        // What can't be read is not quoted either.
        std::fs::read_to_string(path).unwrap_or_default()
    }

    fn copy(&self, from: &str, to: &str) {
        // Only a mutant asks for it, and what comes of it is seen in the workspace.
        let _ = std::fs::copy(from, to);
    }

    fn links(&self) -> &dyn Links {
        self
    }
}

fn mode_of(looked: std::io::Result<std::fs::Metadata>) -> Result<Option<u32>, String> {
    match looked {
        Ok(file) => Ok(Some(file.permissions().mode() & 0o777)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(fixtures::error::io_words(&error).to_string()),
    }
}

impl Core {
    pub(super) fn check_path(&mut self, id: Id, check: &PathCheck) {
        let is_inside =
            self.strategies.guard.lets(check.policy, &check.roots, &check.path, self.disk.links());
        let verdict = if is_inside { PathVerdict::Inside } else { PathVerdict::Outside };
        self.answer(id, PathJudged { verdict });
    }

    /// Would this yes let the agent write outside? A pattern is read from the task's folder and from the workspace's:
    /// the servers write it from the one or the other.
    pub(super) fn leads_out(&self, directory: &str, asked: &Permission, reply: Reply) -> bool {
        let Some(policy) = self.strategies.guard.yes_is_held_by() else { return false };
        if reply == Reply::Reject || !self.strategies.guard.holds(reply) || asked.permission != "edit" {
            return false;
        }
        let main = self.server.as_ref().map_or(directory, |server| server.directory.as_str());
        let [first, second] = self.strategies.guard.read_from(directory, main);
        let readings = [[first, second], [second, first]].map(|roots| roots.map(str::to_owned));
        let lets = |path: &String| {
            readings.iter().all(|roots| self.strategies.guard.lets(policy, roots, path, self.disk.links()))
        };
        !asked.patterns.iter().all(lets)
    }

    /// The person learns that a yes is not sent.
    pub(super) fn tell_of_refusal(&mut self, task_id: &str) {
        self.count("kilo.cli.security.out_of_scope_path_attempt_count", Some(task_id));
        self.log(LogLevel::Warn, format!("a write was not allowed: {LEADS_OUT}"), Some(task_id));
        let (task, message) = (Some(task_id.to_owned()), LEADS_OUT.to_owned());
        self.tell(Update::Error { task_id: task, message, retry: false });
    }

    /// Tells the agent no in place of the person's yes.
    pub(super) fn refuse_write(&mut self, id: Id, task_id: &str, directory: &str, permission_id: String) {
        self.tell_of_refusal(task_id);
        let body = json!({ "reply": Reply::Reject });
        let path = super::commands::reply_path(&permission_id);
        let request = self.http(directory, "POST", &path, Some(body));
        self.calls.insert(request, Call::Refused { id, task_id: task_id.to_owned(), permission_id });
    }

    /// The server has heard the no, or has not.
    pub(super) fn refused(&mut self, id: Id, task_id: &str, permission_id: String, is_taken: bool) {
        let gone = self.tasks.get_mut(task_id).filter(|_| is_taken);
        if let Some(gone) = gone.and_then(|task| task.replied(permission_id)) {
            self.tell(gone);
        }
        self.fail(id, RpcError::failed(LEADS_OUT));
    }
}
