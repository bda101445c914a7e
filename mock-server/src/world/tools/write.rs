//! `write`: a whole file, asked for as `edit`, with a diff in the question and in the result.

use super::{Completed, Place, Plan};
use crate::world::permission::Wish;
use crate::world::{Effect, Found, Purpose, World, patch};
use serde_json::{Value, json};

/// A write that may happen.
#[derive(Debug, Clone)]
pub(crate) struct WritePlan {
    /// Absolute.
    pub(super) path: String,
    /// Relative to the session's directory.
    pub(super) relative: String,
    /// The old content, without the mark; `None` when the file is new.
    pub(super) before: Option<String>,
    /// The new content, without the mark.
    pub(super) content: String,
    /// The file begins with a byte order mark, or is to.
    pub(super) has_mark: bool,
    pub(super) change: Change,
}

/// What the call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// A whole file was given.
    Write,
    /// Words were given.
    Edit,
}

/// The byte order mark. Who writes over a file that has one keeps it, and no diff of a tool shows it.
const MARK: char = '\u{feff}';

const RESULT: &str = "Wrote file successfully.";
const EDIT_RESULT: &str = "Edit applied successfully.";

impl World {
    pub(super) fn start_write(&mut self, session: &str, call: usize) {
        let Some(Place { path, relative, .. }) = self.place_argument(session, call) else { return };
        let Some(content) = self.text_argument(session, call, "content") else {
            self.fail_call(session, call, "standin: the write tool needs the string 'content'");
            return;
        };
        let (content, has_mark) = without_mark(&content);
        let plan = WritePlan {
            path: path.clone(),
            relative,
            before: None,
            content,
            has_mark,
            change: Change::Write,
        };
        self.set_plan(session, call, Plan::Write(plan));
        self.effect(Purpose::CallRead(session.to_owned(), call), Effect::Read { path });
    }

    /// What is about to change is known: ask, or go on.
    pub(super) fn file_to_write(&mut self, session: &str, call: usize, plan: WritePlan, found: Found) {
        let (before, had_mark) = match found {
            Found::Nothing { .. } => (None, false),
            Found::File(bytes) => {
                let (before, had_mark) = without_mark(&String::from_utf8_lossy(&bytes));
                (Some(before), had_mark)
            }
            Found::Folder(_) | Found::Tree(_) => {
                let message = format!("standin does not write {}: it is a folder", plan.path);
                self.fail_call(session, call, &message);
                return;
            }
        };
        let plan = WritePlan { before, has_mark: plan.has_mark || had_mark, ..plan };
        self.ask_to_write(session, call, plan);
    }

    /// The change is known: ask, or go on.
    pub(super) fn ask_to_write(&mut self, session: &str, call: usize, plan: WritePlan) {
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
        self.effect(Purpose::CallWritten(session.to_owned(), call), plan.effect());
    }

    /// The turn is over and its call is told to have failed; the file is written all the same.
    pub(crate) fn write_late(&mut self, session: &str, plan: WritePlan) {
        let effect = plan.effect();
        self.effect(Purpose::WrittenLate(session.to_owned(), Box::new(plan)), effect);
    }

    pub(crate) fn written_late(&mut self, session: &str, plan: &WritePlan, done: &Result<(), String>) {
        if done.is_ok() {
            self.tell_written(session, plan);
        }
    }

    fn tell_written(&mut self, session: &str, plan: &WritePlan) {
        self.emit_session(session, "file.edited", json!({"file": plan.path}));
        let event = if plan.before.is_some() { "change" } else { "add" };
        self.emit_session(session, "file.watcher.updated", json!({"file": plan.path, "event": event}));
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
        self.tell_written(session, &plan);
        if plan.change == Change::Edit {
            self.edited(session, call, &plan);
            return;
        }
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

impl World {
    fn edited(&mut self, session: &str, call: usize, plan: &WritePlan) {
        let metadata = json!({"diagnostics": {}, "diff": plan.diff(), "filediff": plan.file_diff()});
        self.progress(session, call, metadata.clone());
        if self.profile.tool_progress {
            self.progress(session, call, json!({"output": EDIT_RESULT}));
        }
        let mut metadata = metadata;
        metadata["truncated"] = json!(false);
        let mut only_told = json!({});
        if let (true, Some(fields)) = (self.profile.file_diffs, metadata.as_object_mut()) {
            only_told = json!({"diff": fields.remove("diff")});
        }
        let (output, title) = (EDIT_RESULT.to_owned(), plan.relative.clone());
        self.complete_call(session, call, &Completed { output, title, metadata, only_told });
    }
}

/// The content without a mark at its beginning, and whether there was one.
pub(super) fn without_mark(content: &str) -> (String, bool) {
    match content.strip_prefix(MARK) {
        Some(rest) => (rest.to_owned(), true),
        None => (content.to_owned(), false),
    }
}

impl WritePlan {
    fn effect(&self) -> Effect {
        let mark = if self.has_mark { MARK.to_string() } else { String::new() };
        Effect::Write { path: self.path.clone(), content: format!("{mark}{}", self.content) }
    }

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
