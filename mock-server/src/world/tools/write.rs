//! `write`: a whole file, asked for as `edit`, with a diff in the question and in the result.

use super::formatters::Then;
use super::{Completed, Place, Plan};
use crate::javascript::units;
use crate::world::permission::Wish;
use crate::world::{Effect, Found, Purpose, World, patch};
use serde_json::{Value, json};

/// A write that may happen.
#[derive(Debug, Clone)]
pub(crate) struct WritePlan {
    /// Absolute, without detours.
    pub(super) path: String,
    /// Absolute, as the call spells it; that is what is told.
    pub(super) given: String,
    /// Relative to the session's directory.
    pub(super) relative: String,
    /// The old content, without the mark; `None` when the file is new.
    pub(super) before: Option<String>,
    /// The new content, without the mark.
    pub(super) content: String,
    /// The file begins with a byte order mark, or is to.
    pub(super) has_mark: bool,
    pub(super) change: Change,
    /// What formatters have made of that, without the mark.
    pub(super) formatted: Option<String>,
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

/// Of longer texts one server tells no diff of its own.
const DIFFED_MAX: usize = 500_000;

const RESULT: &str = "Wrote file successfully.";
const EDIT_RESULT: &str = "Edit applied successfully.";

impl World {
    pub(super) fn start_write(&mut self, session: &str, call: usize) {
        let Some(Place { path, given, relative }) = self.place_to_change(session, call) else { return };
        let Some(content) = self.text_argument(session, call, "content") else {
            self.fail_call(session, call, "standin: the write tool needs the string 'content'");
            return;
        };
        let (content, has_mark) = without_mark(&content);
        let plan = WritePlan {
            path: path.clone(),
            given,
            relative,
            before: None,
            content,
            has_mark,
            change: Change::Write,
            formatted: None,
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
                let message = format!("BadResource: FileSystem.readFile ({})", plan.given);
                self.fail_call(session, call, &message);
                return;
            }
        };
        let plan = WritePlan { before, has_mark: plan.has_mark || had_mark, ..plan };
        self.ask_to_write(session, call, plan);
    }

    /// The change is known: ask, or go on.
    pub(super) fn ask_to_write(&mut self, session: &str, call: usize, plan: WritePlan) {
        let mut metadata = json!({"filepath": plan.given, "diff": plan.diff()});
        if self.profile.file_diffs {
            metadata["filediff"] = plan.own_file_diff();
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

    pub(crate) fn written_late(&mut self, session: &str, plan: Box<WritePlan>, done: &Result<(), String>) {
        if done.is_ok() {
            let (path, has_mark) = (plan.path.clone(), plan.has_mark);
            self.format_file(session, (&path, has_mark), Then::Late(plan));
        }
    }

    pub(super) fn tell_written(&mut self, session: &str, plan: &WritePlan) {
        self.emit_session(session, "file.edited", json!({"file": plan.given}));
        let event = if plan.before.is_some() { "change" } else { "add" };
        self.emit_session(session, "file.watcher.updated", json!({"file": plan.given, "event": event}));
    }

    pub(crate) fn call_written(&mut self, session: &str, call: usize, done: Result<(), String>) {
        if let Err(message) = done {
            self.fail_call(session, call, &message);
            return;
        }
        let plan = self.run_mut(session).and_then(|run| run.calls.get(call)?.plan.clone());
        let (path, has_mark) = match &plan {
            Some(Plan::Write(plan)) => (plan.path.clone(), plan.has_mark),
            Some(Plan::Patch(plan)) => match plan.written() {
                Some(written) => written,
                None => return self.call_formatted(session, call, None),
            },
            _ => return,
        };
        self.format_file(session, (&path, has_mark), Then::Call(call));
    }

    /// The file is as it stays, as it was written or as formatters have made it.
    pub(super) fn call_formatted(&mut self, session: &str, call: usize, formatted: Option<String>) {
        let plan = self.run_mut(session).and_then(|run| run.calls.get(call)?.plan.clone());
        let plan = match plan {
            Some(Plan::Write(plan)) => WritePlan { formatted, ..plan },
            Some(Plan::Patch(plan)) => return self.patch_went_on(session, call, *plan),
            _ => return,
        };
        self.tell_written(session, &plan);
        if plan.change == Change::Edit {
            self.edited(session, call, &plan);
            return;
        }
        let output = format!("{RESULT}{}", self.opinion_of(&plan.path, &plan.relative, plan.stays()));
        self.tell_output(session, call, &output);
        let mut metadata = json!({"diagnostics": {}, "filepath": plan.given, "exists": plan.before.is_some(), "truncated": false});
        let mut only_told = json!({});
        if self.profile.file_diffs {
            metadata["filediff"] = plan.own_file_diff();
            only_told = json!({"diff": plan.diff()});
        }
        let result =
            Completed { output, title: plan.relative.clone(), metadata, only_told, ..Completed::default() };
        self.complete_call(session, call, result);
    }
}

impl World {
    fn edited(&mut self, session: &str, call: usize, plan: &WritePlan) {
        let file_diff = if self.profile.file_diffs { plan.own_file_diff() } else { plan.file_diff() };
        let metadata = json!({"diagnostics": {}, "diff": plan.diff(), "filediff": file_diff});
        self.progress(session, call, metadata.clone());
        let output = format!("{EDIT_RESULT}{}", self.opinion_of(&plan.path, &plan.relative, plan.stays()));
        self.tell_output(session, call, &output);
        let mut metadata = metadata;
        metadata["truncated"] = json!(false);
        let mut only_told = json!({});
        if let (true, Some(fields)) = (self.profile.file_diffs, metadata.as_object_mut()) {
            only_told = json!({"diff": fields.shift_remove("diff")});
        }
        let title = plan.relative.clone();
        self.complete_call(
            session,
            call,
            Completed { output, title, metadata, only_told, ..Completed::default() },
        );
    }
}

/// The content without a mark at its beginning, and whether there was one.
pub(crate) fn without_mark(content: &str) -> (String, bool) {
    match content.strip_prefix(MARK) {
        Some(rest) => (rest.to_owned(), true),
        None => (content.to_owned(), false),
    }
}

/// The content as it stands in the file.
pub(crate) fn with_mark(content: &str, has_mark: bool) -> String {
    let mark = if has_mark { MARK.to_string() } else { String::new() };
    format!("{mark}{content}")
}

/// As a person reads it, without the indent that all lines share.
pub(super) fn diff_of(path: &str, before: &str, after: &str) -> String {
    patch::without_indent(&patch::index_style(path, before, after, patch::Header::Plain))
}

impl WritePlan {
    fn effect(&self) -> Effect {
        Effect::Write { path: self.path.clone(), content: Some(with_mark(&self.content, self.has_mark)) }
    }

    /// What the file holds in the end.
    fn stays(&self) -> &str {
        self.formatted.as_deref().unwrap_or(&self.content)
    }

    /// As a person reads it: without the line ends of other systems where some words of a file were replaced, and
    /// without the indent that all lines share.
    fn diff(&self) -> String {
        let before = self.before.as_deref().unwrap_or_default();
        if self.change == Change::Edit && self.before.is_some() {
            let plain = |text: &str| text.replace("\r\n", "\n");
            return diff_of(&self.given, &plain(before), &plain(self.stays()));
        }
        diff_of(&self.given, before, &self.content)
    }

    fn file_diff(&self) -> Value {
        let (additions, deletions) = self.counts(self.stays());
        json!({"file": self.given, "patch": self.diff(), "additions": additions, "deletions": deletions})
    }

    /// The same as it is; of files that are too long nothing is told.
    fn own_file_diff(&self) -> Value {
        let before = self.before.as_deref().unwrap_or_default();
        if units(before).max(units(&self.content)) > DIFFED_MAX {
            return json!({"file": self.given, "patch": "", "additions": 0, "deletions": 0});
        }
        let (additions, deletions) = self.counts(&self.content);
        let patch = patch::index_style(&self.given, before, &self.content, patch::Header::Plain);
        json!({"file": self.given, "patch": patch, "additions": additions, "deletions": deletions})
    }

    fn counts(&self, after: &str) -> (usize, usize) {
        patch::count_texts(self.before.as_deref().unwrap_or_default(), after)
    }
}
