//! `write`: a whole file, asked for as `edit`, with a diff in the question and in the result.

use super::{Completed, Plan};
use crate::world::permission::Wish;
use crate::world::{Effect, Purpose, World, patch};
use serde_json::{Value, json};

/// A write that may happen.
#[derive(Debug, Clone)]
pub(crate) struct WritePlan {
    /// Absolute.
    path: String,
    /// Relative to the session's directory.
    relative: String,
    before: Option<String>,
    content: String,
}

const RESULT: &str = "Wrote file successfully.";

impl World {
    pub(super) fn start_write(&mut self, session: &str, call: usize) {
        let Some((path, relative)) = self.path_argument(session, call) else { return };
        let Some(content) = self.text_argument(session, call, "content") else {
            self.fail_call(session, call, "standin: the write tool needs the string 'content'");
            return;
        };
        let plan = WritePlan { path: path.clone(), relative, before: None, content };
        self.set_plan(session, call, Plan::Write(plan));
        self.effect(Purpose::CallRead(session.to_owned(), call), Effect::Read { path });
    }

    /// What is about to change is known: ask, or go on.
    pub(super) fn file_to_write(
        &mut self,
        session: &str,
        call: usize,
        plan: WritePlan,
        before: Option<String>,
    ) {
        let plan = WritePlan { before, ..plan };
        let mut metadata = json!({"filepath": plan.path, "diff": plan.diff()});
        if self.profile.file_diffs {
            metadata["filediff"] = plan.file_diff();
        }
        let patterns = vec![plan.relative.clone()];
        self.set_plan(session, call, Plan::Write(plan));
        let wish = Wish { permission: "edit", patterns, metadata, always: vec!["*".to_owned()] };
        self.ask_or_allow(session, call, &wish);
    }

    pub(super) fn write(&mut self, session: &str, call: usize, plan: &WritePlan) {
        let effect = Effect::Write { path: plan.path.clone(), content: plan.content.clone() };
        self.effect(Purpose::CallWritten(session.to_owned(), call), effect);
    }

    pub(crate) fn call_written(&mut self, session: &str, call: usize, done: Result<(), String>) {
        if let Err(message) = done {
            self.fail_call(session, call, &message);
            return;
        }
        let Some(Plan::Write(plan)) =
            self.run_mut(session).and_then(|run| run.calls.get(call)).and_then(|call| call.plan.clone())
        else {
            return;
        };
        self.emit_session(session, "file.edited", json!({"file": plan.path}));
        let event = if plan.before.is_some() { "change" } else { "add" };
        self.emit_session(session, "file.watcher.updated", json!({"file": plan.path, "event": event}));
        if self.profile.tool_progress {
            self.progress(session, call, json!({"output": RESULT}));
        }
        let mut metadata = json!({"diagnostics": {}, "filepath": plan.path, "exists": plan.before.is_some(), "truncated": false});
        let mut only_told = json!({});
        if self.profile.file_diffs {
            metadata["filediff"] = plan.file_diff();
            only_told = json!({"diff": plan.diff()});
        }
        let result =
            Completed { output: RESULT.to_owned(), title: plan.relative.clone(), metadata, only_told };
        self.complete_call(session, call, &result);
    }
}

impl WritePlan {
    fn diff(&self) -> String {
        patch::index_style(
            &self.path,
            self.before.as_deref().unwrap_or_default(),
            &self.content,
            patch::Header::Plain,
        )
    }

    fn file_diff(&self) -> Value {
        let (additions, deletions) =
            patch::count_texts(self.before.as_deref().unwrap_or_default(), &self.content);
        json!({"file": self.path, "patch": self.diff(), "additions": additions, "deletions": deletions})
    }
}
