//! The background jobs of a turn: what the session and the prompt changed.

use super::session::Summary;
use super::{Effect, FileChange, Purpose, World, patch};
use crate::profile::DiffStyle;
use serde_json::{Value, json};

/// A summary in the making.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) session: String,
    /// The prompt's message, which tells what its turn changed.
    pub(crate) prompt: String,
    /// The files before the prompt, and at the time of the job.
    pub(crate) prompt_tree: String,
    pub(crate) tree: String,
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
    /// Starts a job for the running turn.
    pub(crate) fn summarise(&mut self, session: &str, tree: &str, then: Then) {
        let Some(run) = self.sessions.get(session).and_then(|owner| owner.run.as_ref()) else { return };
        self.run_job(Job {
            session: session.to_owned(),
            prompt: run.summed_up.clone(),
            prompt_tree: run.first_tree.clone().unwrap_or_default(),
            tree: tree.to_owned(),
            then,
        });
    }

    pub(crate) fn run_job(&mut self, job: Job) {
        let Some(from) = self.sessions.get(&job.session).and_then(|owner| owner.first_tree.clone()) else {
            return;
        };
        let effect = Effect::Changes { from, to: job.tree.clone() };
        self.effect(Purpose::JobSession(job), effect);
    }

    /// What changed since the session began.
    pub(crate) fn job_session(&mut self, job: Job, changes: &[FileChange]) {
        let changes = if self.profile.session_summary { changes } else { &[] };
        let (diff, summary) = self.diffs(changes);
        let now = self.now_ms;
        let Some(owner) = self.sessions.get_mut(&job.session) else { return };
        owner.summary = Some(summary);
        owner.diff = diff;
        owner.touch(now);
        let effect = Effect::Changes { from: job.prompt_tree.clone(), to: job.tree.clone() };
        self.effect(Purpose::JobPrompt(job), effect);
    }

    /// What changed since the prompt.
    pub(crate) fn job_prompt(&mut self, job: &Job, changes: &[FileChange]) {
        let session = &job.session;
        self.emit_session_updated(session);
        let mut diff = self.sessions.get(session).map(|owner| owner.diff.clone()).unwrap_or_default();
        diff.iter_mut().for_each(quote_name);
        self.emit_session(session, "session.diff", json!({"sessionID": session, "diff": diff}));
        let (mut diffs, _) = self.diffs(changes);
        diffs.iter_mut().for_each(quote_name);
        if let Some(message) = self.sessions.get_mut(session).and_then(|owner| owner.message_mut(&job.prompt))
        {
            message.info["summary"] = json!({"diffs": diffs});
        }
        self.emit_message(session, &job.prompt);
        match job.then {
            Then::AskModel => self.ask_model(session),
            Then::Title => self.title_after_work(session),
            Then::Nothing => {}
        }
    }

    fn diffs(&self, changes: &[FileChange]) -> (Vec<Value>, Summary) {
        let mut summary = Summary { files: changes.len(), ..Summary::default() };
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
                if self.profile.diff_style == DiffStyle::Git && at + 1 < changes.len() {
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
fn quote_name(diff: &mut Value) {
    if let Some(quoted) = diff["file"].as_str().map(|name| patch::git_name(name).into_owned()) {
        diff["file"] = json!(quoted);
    }
}
