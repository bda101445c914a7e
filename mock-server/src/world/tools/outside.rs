//! A call that leads out of the workspace: the person is asked first, whatever the tool is.

use super::{Plan, inside};
use crate::world::World;
use crate::world::permission::Wish;
use serde_json::json;

/// A way out that may be allowed; the call goes on with its own plan then, or begins again.
#[derive(Debug, Clone)]
pub(crate) struct LeavePlan {
    then: Option<Plan>,
}

/// What stands outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
}

impl World {
    /// Does a place lie where a session may go without asking: below its directory, or in its project?
    pub(in crate::world) fn is_inside(&self, directory: &str, path: &str) -> bool {
        let worktree = self.worktree_of(directory);
        inside(directory, path).is_some() || worktree != "/" && inside(&worktree, path).is_some()
    }

    /// May a call go to a place? If that has to be asked, the call goes on when it is allowed.
    pub(super) fn may_go(
        &mut self,
        session: &str,
        call: usize,
        given: &str,
        whole: &str,
        kind: Kind,
    ) -> bool {
        let Some(directory) = self.sessions.get(session).map(|owner| owner.directory.clone()) else {
            return false;
        };
        let is_inside = self.is_inside(&directory, whole);
        let Some(asking) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) else {
            return false;
        };
        if asking.has_left || is_inside {
            return true;
        }
        let then = asking.plan.take();
        let folder = match kind {
            Kind::Folder => whole,
            Kind::File => whole.rsplit_once('/').map_or("", |(folder, _)| folder),
        };
        let folder = if folder.is_empty() { "/" } else { folder };
        let pattern = format!("{}/*", folder.trim_end_matches('/'));
        let metadata = json!({"filepath": given, "parentDir": folder});
        let wish = Wish {
            permission: "external_directory",
            patterns: vec![pattern.clone()],
            metadata,
            always: vec![pattern],
        };
        self.set_plan(session, call, Plan::Leave(Box::new(LeavePlan { then })));
        self.ask_or_allow(session, call, &wish);
        false
    }

    /// The person said yes.
    pub(super) fn leave(&mut self, session: &str, call: usize, plan: LeavePlan) {
        let Some(leaving) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) else { return };
        leaving.has_left = true;
        leaving.plan.clone_from(&plan.then);
        match plan.then {
            Some(Plan::Read(plan)) => self.ask_to_read(session, call, *plan),
            Some(Plan::Search(plan)) => self.search(session, call, &plan),
            _ => self.start_call(session, call),
        }
    }
}
