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
        let Some(owner) = self.sessions.get(session) else { return };
        let directory = owner.directory.clone();
        let Some(input) = owner.run.as_ref().and_then(|run| run.calls.get(call)).map(|call| &call.input)
        else {
            return;
        };
        let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
        let (Some(path), Some(content)) = (text("filePath"), text("content")) else {
            let message = "standin: the write tool needs the strings 'filePath' and 'content'";
            self.fail_call(session, call, message);
            return;
        };
        let Some(relative) = inside(&directory, &path) else {
            let message = format!("standin writes only inside the workspace {directory}: {path} is outside");
            self.fail_call(session, call, &message);
            return;
        };
        let path = format!("{directory}/{relative}");
        let plan = WritePlan { path: path.clone(), relative, before: None, content };
        if let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) {
            call.plan = Some(Plan::Write(plan));
        }
        self.effect(Purpose::CallRead(session.to_owned(), call), Effect::Read { path });
    }

    /// The file that is about to change is known: ask, or go on.
    pub(crate) fn call_read(&mut self, session: &str, call: usize, content: Result<Option<String>, String>) {
        let before = match content {
            Ok(before) => before,
            Err(message) => {
                self.fail_call(session, call, &message);
                return;
            }
        };
        let Some(waiting) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) else { return };
        let Some(Plan::Write(plan)) = waiting.plan.as_mut() else { return };
        plan.before = before;
        let plan = plan.clone();
        let mut metadata = json!({"filepath": plan.path, "diff": plan.diff()});
        if self.profile.file_diffs {
            metadata["filediff"] = plan.file_diff();
        }
        let wish = Wish {
            permission: "edit",
            patterns: vec![plan.relative.clone()],
            metadata,
            always: vec!["*".to_owned()],
        };
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

/// The path relative to the directory, if it stays inside by its spelling.
fn inside(directory: &str, path: &str) -> Option<String> {
    let relative = match path.strip_prefix(directory) {
        Some(rest) => rest.strip_prefix('/')?,
        None if path.starts_with('/') => return None,
        None => path,
    };
    let mut parts = Vec::new();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn a_path_stays_inside_by_its_spelling() {
        assert_eq!(inside("/w", "/w/a/../b.txt").as_deref(), Some("b.txt"));
        assert_eq!(inside("/w", "a/./b").as_deref(), Some("a/b"));
        for outside in ["/w/../x", "/wx/a", "../a", "/etc/passwd", "/w", "/w/", "a/../.."] {
            assert_eq!(inside("/w", outside), None, "{outside}");
        }
    }
}
