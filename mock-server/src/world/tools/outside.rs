//! A call that leads out of the workspace: the person is asked, whatever the tool is. The stand-in itself never goes
//! there: to `read` it is as if every folder outside were empty, and `write` says that it does not.

use super::{Plan, resolved};
use crate::world::World;
use crate::world::permission::Wish;
use serde_json::json;

/// A way out that may be allowed.
#[derive(Debug, Clone)]
pub(crate) struct LeavePlan {
    path: String,
}

impl World {
    /// Asks whether a call may go where it wants to.
    pub(super) fn ask_to_leave(&mut self, session: &str, call: usize, directory: &str, path: String) {
        let tool = self.run_mut(session).and_then(|run| run.calls.get(call)).map(|call| call.tool.clone());
        let whole = resolved(directory, &path);
        let folder = whole.rsplit_once('/').map_or("", |(folder, _)| folder);
        let pattern = format!("{folder}/*");
        let folder = if folder.is_empty() { "/" } else { folder };
        // A file that is not there is looked for in its folder, and that is what the person is asked about.
        let is_missing_read = tool.as_deref() == Some("read") && self.profile.asks_for_folder_of_missing;
        let named = if is_missing_read { folder } else { path.as_str() };
        let metadata = json!({"filepath": named, "parentDir": folder});
        let wish = Wish {
            permission: "external_directory",
            patterns: vec![pattern.clone()],
            metadata,
            always: vec![pattern],
        };
        self.set_plan(session, call, Plan::Leave(LeavePlan { path }));
        self.ask_or_allow(session, call, &wish);
    }

    /// The person said yes.
    pub(super) fn leave(&mut self, session: &str, call: usize, plan: LeavePlan) {
        let LeavePlan { path } = plan;
        let tool = self.run_mut(session).and_then(|run| run.calls.get(call)).map(|call| call.tool.clone());
        let message = match tool.as_deref() {
            Some("read") => format!("File not found: {path}"),
            _ => format!("standin keeps to its workspace: it does not write {path}"),
        };
        self.fail_call(session, call, &message);
    }
}
