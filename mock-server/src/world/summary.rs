//! The background jobs of a turn: what the session and the prompt changed.

use super::session::{Message, Summary};
use super::{Beside, Effect, FileChange, Purpose, World, patch};
use crate::profile::DiffStyle;
use serde_json::{Value, json};

/// A summary in the making.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) session: String,
    /// The prompt's message, which tells what its turn changed.
    pub(crate) prompt: String,
    pub(crate) then: Then,
}

/// What follows a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// The step that waited for it asks the model.
    AskModel,
    /// The turn is over; the session may want a title.
    Title,
    /// Nothing.
    Nothing,
}

impl World {
    pub(crate) fn run_job(&mut self, job: Job) {
        if !self.profile.session_summary {
            return self.sum_up_beside(job);
        }
        if !self.keeps_snapshots(self.folder_of(&job.session)) {
            // Nothing can be told, and nothing is.
            return self.after_job(&job);
        }
        let Some(owner) = self.sessions.get(&job.session) else { return };
        let effect = changes_of(owner.messages.iter());
        self.effect(Purpose::JobSession(job), effect);
    }

    /// A server that tells nothing of the session says so at once. What the prompt has changed so far is found out
    /// while the turn goes on.
    fn sum_up_beside(&mut self, job: Job) {
        let now = self.now_ms;
        let Some(owner) = self.sessions.get_mut(&job.session) else { return };
        owner.summary = Some(Summary::default());
        owner.diff.clear();
        owner.touch(now);
        let mut changes =
            changes_of(owner.messages.iter().filter(|message| message.is_of_prompt(&job.prompt)));
        self.tell_session_diff(&job.session);
        let (session, then, prompt) = (job.session.clone(), job.then, job.prompt.clone());
        match &mut changes {
            _ if !self.keeps_snapshots(self.folder_of(&session)) => {}
            Effect::Changes { from, .. } if from.is_empty() => self.sum_up_prompt(&job, Vec::new()),
            Effect::Changes { beside, .. } => {
                if then == Then::AskModel {
                    *beside = Beside::NextStep;
                }
                self.effect(Purpose::JobPrompt(job), changes);
            }
            _ => {}
        }
        self.after_job(&Job { session, prompt, then });
    }

    /// The files behind a step: they are looked at behind the summary of what was changed before it.
    pub(crate) fn snapshot_behind_step(&self, session: &str, directory: &str) -> Effect {
        let is_its = |purpose: &Purpose| matches!(purpose, Purpose::JobPrompt(job) if job.session == session);
        let mut snapshot = self.snapshot_of(directory);
        if let Effect::Snapshot { beside, .. } = &mut snapshot
            && self.waiting.values().any(is_its)
        {
            *beside = Beside::Summary;
        }
        snapshot
    }

    /// What changed since the session began.
    pub(crate) fn job_session(&mut self, job: Job, changes: &[FileChange]) {
        let (mut diff, summary) = self.diffs(changes);
        self.blank_patches(&job.session, &mut diff);
        let now = self.now_ms;
        let Some(owner) = self.sessions.get_mut(&job.session) else { return };
        if owner.diff_base.is_empty() {
            owner.summary = Some(summary);
            owner.diff = diff;
        }
        owner.touch(now);
        let effect = changes_of(owner.messages.iter().filter(|message| message.is_of_prompt(&job.prompt)));
        self.effect(Purpose::JobPrompt(job), effect);
    }

    /// What changed since the prompt.
    pub(crate) fn job_prompt(&mut self, job: &Job, changes: &[FileChange]) {
        let session = &job.session;
        let (mut diffs, _) = self.diffs(changes);
        self.blank_patches(session, &mut diffs);
        if !self.profile.session_summary {
            return self.sum_up_prompt(job, diffs);
        }
        self.join_forked_diff(session, &diffs);
        self.tell_session_diff(session);
        if self.keeps_snapshots(self.folder_of(session)) {
            self.sum_up_prompt(job, diffs);
        }
        self.after_job(job);
    }

    fn tell_session_diff(&mut self, session: &str) {
        self.emit_session_summed_up(session);
        let mut diff = self.sessions.get(session).map(|owner| owner.diff.clone()).unwrap_or_default();
        diff.iter_mut().for_each(quote_name);
        self.emit_session(session, "session.diff", json!({"sessionID": session, "diff": diff}));
    }

    fn sum_up_prompt(&mut self, job: &Job, mut diffs: Vec<Value>) {
        let session = &job.session;
        let is_nowhere = self.tells_no_tree(session);
        diffs.iter_mut().for_each(quote_name);
        let prompt = self.sessions.get_mut(session).and_then(|owner| owner.message_mut(&job.prompt));
        // A prompt that wants a form can't be written again.
        if let Some(message) = prompt.filter(|message| message.info.get("format").is_none()) {
            let is_first = message.info.get("summary").is_none();
            message.info["summary"] = json!({"diffs": diffs});
            // Where there is no folder, nothing has to be looked at.
            if is_first && job.then != Then::AskModel && !is_nowhere {
                let (now, from_ms) = (self.now_ms, self.now_ms + self.profile.last_summary_ms);
                self.late_summaries.retain(|_, from_ms| now < *from_ms);
                self.late_summaries.insert(job.prompt.clone(), from_ms);
            }
            self.emit_message(session, &job.prompt);
        }
    }

    /// A message as it is read now: the only summary of a prompt that came with the end of its turn is there a moment
    /// later.
    pub(crate) fn as_read(&self, mut message: Value) -> Value {
        let from_ms = message["info"]["id"].as_str().and_then(|id| self.late_summaries.get(id));
        if from_ms.is_some_and(|from_ms| self.now_ms < *from_ms) {
            message["info"].as_object_mut().and_then(|info| info.shift_remove("summary"));
        }
        if let Some(diffs) = message.pointer_mut("/info/summary/diffs").and_then(Value::as_array_mut) {
            self.without_large_patches(diffs);
        }
        message
    }

    /// Who reads diffs gets none of large files where they are cut; who listens does.
    pub(crate) fn without_large_patches(&self, diffs: &mut [Value]) {
        let Some(most) = self.profile.patch_read_max else { return };
        let is_large = |diff: &Value| diff["patch"].as_str().is_some_and(|patch| patch.len() > most);
        diffs.iter_mut().filter(|diff| is_large(diff)).for_each(|diff| diff["patch"] = json!(""));
    }

    fn after_job(&mut self, job: &Job) {
        let session = &job.session;
        match job.then {
            Then::AskModel => self.ask_model(session),
            Then::Title => self.title_after_work(session, &job.prompt),
            Then::Nothing => {}
        }
    }

    /// Below the project's folder some servers find no diff of a file, though they know how it has changed.
    fn blank_patches(&self, session: &str, diffs: &mut [Value]) {
        let directory = self.sessions.get(session).map_or("", |owner| owner.directory.as_str());
        if self.profile.diff_style == DiffStyle::Git && directory != self.worktree_of(directory) {
            diffs.iter_mut().for_each(|diff| diff["patch"] = json!(""));
        }
    }

    /// A session that was forked goes on from what the other one had changed.
    fn join_forked_diff(&mut self, session: &str, of_prompt: &[Value]) {
        let Some(owner) = self.sessions.get_mut(session).filter(|owner| !owner.diff_base.is_empty()) else {
            return;
        };
        let before = if owner.diff.is_empty() { &owner.diff_base } else { &owner.diff };
        let diff = if before.is_empty() || of_prompt.starts_with(before) {
            of_prompt.to_vec()
        } else if before.starts_with(of_prompt) || before.ends_with(of_prompt) {
            before.clone()
        } else {
            before.iter().chain(of_prompt).cloned().collect()
        };
        owner.summary = Some(Summary::of(&diff));
        owner.diff = diff;
    }

    /// What a summary has found out about the session is told without the files of an earlier revert.
    fn emit_session_summed_up(&mut self, session: &str) {
        let mut info = self.session_info(session);
        if let Some(summary) = info.get_mut("summary").and_then(Value::as_object_mut) {
            summary.shift_remove("diffs");
        }
        self.emit_synced(session, "session.updated", json!({"sessionID": session, "info": info}));
    }

    pub(crate) fn diffs(&self, changes: &[FileChange]) -> (Vec<Value>, Summary) {
        let mut summary = Summary { files: changes.len(), ..Summary::default() };
        let last = changes.iter().rposition(|change| !change.is_binary());
        let diffs = changes
            .iter()
            .enumerate()
            .map(|(at, change)| {
                let (additions, deletions) = patch::count(change);
                summary.additions += additions;
                summary.deletions += deletions;
                let status = match (&change.before, &change.after) {
                    (None, _) => "added",
                    (_, None) => "deleted",
                    _ => "modified",
                };
                let mut patch = patch::of_change(change, self.profile.diff_style);
                if self.profile.diff_style == DiffStyle::Git && last.is_some_and(|last| at < last) {
                    // One diff of all files is cut at the line feeds between them.
                    patch.pop();
                }
                json!({
                    "file": change.path, "patch": patch,
                    "additions": additions, "deletions": deletions, "status": status,
                })
            })
            .collect();
        (diffs, summary)
    }
}

/// Events and messages name a file as git does; who asks for a session's diff gets the name itself.
pub(crate) fn quote_name(diff: &mut Value) {
    if let Some(quoted) = diff["file"].as_str().map(|name| patch::git_name(name).into_owned()) {
        diff["file"] = json!(quoted);
    }
}

/// What a part of a conversation changed: between the first state that it tells of and the last.
pub(crate) fn changes_of<'a>(messages: impl Iterator<Item = &'a Message>) -> Effect {
    let (mut from, mut to) = (None, None);
    for part in messages.flat_map(|message| &message.parts) {
        let Some(tree) = part["snapshot"].as_str() else { continue };
        match part["type"].as_str() {
            Some("step-start") => {
                from.get_or_insert(tree);
            }
            Some("step-finish") => to = Some(tree),
            _ => {}
        }
    }
    // Nothing has begun, or nothing has ended: nothing has changed.
    let (from, to) = from.zip(to).unwrap_or_default();
    Effect::Changes { from: from.to_owned(), to: to.to_owned(), beside: Beside::Nothing }
}

impl Summary {
    /// The sum of diffs.
    pub(crate) fn of(diffs: &[Value]) -> Self {
        let sum = |key: &str| {
            let counts = diffs.iter().filter_map(|diff| diff[key].as_u64());
            usize::try_from(counts.sum::<u64>()).unwrap_or(usize::MAX)
        };
        Self { additions: sum("additions"), deletions: sum("deletions"), files: diffs.len() }
    }
}
