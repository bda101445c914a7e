//! What has changed in the workspace since its commit, as git would say it.

use super::surroundings::{PlaceAsk, PlaceWish};
use super::{ApiReply, ApiRequest, FileChange, ReplyBody, Ticket, World, patch};
use crate::javascript::in_dictionary;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Somebody asks what has changed.
#[derive(Debug)]
pub(super) struct Question {
    ticket: u64,
    /// The part of the workspace that is meant: empty, or a path with a slash.
    below: String,
    kind: Kind,
    /// How many lines are told around each change.
    context: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Status,
    Diff,
    /// The text of all diffs.
    Raw,
}

impl World {
    /// `GET /vcs`.
    pub(super) fn vcs(&mut self, request: &ApiRequest) {
        if self.part_of_repository(request).is_none() {
            return self.tell_branches(request.ticket, None, None);
        }
        let directory = self.directory_of(request);
        self.ask_place(PlaceAsk::Branches(request.ticket), PlaceWish::Branches { folder: directory });
    }

    /// A line was run: it may have checked another branch out.
    pub(super) fn look_for_checkout(&mut self, session: &str) {
        let Some(owner) = self.sessions.get(session) else { return };
        let folder = owner.directory.clone();
        if self.instances.get(&folder).is_some_and(|instance| instance.branch.is_some()) {
            self.ask_place(PlaceAsk::Branch(folder.clone()), PlaceWish::Branches { folder });
        }
    }

    /// The branch of an instance's folder is known; what is new is told.
    pub(super) fn on_branch(&mut self, directory: &str, current: Option<String>) {
        let Some(instance) = self.instances.get_mut(directory) else { return };
        let before = instance.branch.replace(current.clone());
        if before.is_none_or(|before| before == current) {
            return;
        }
        let head = format!("{}/.git/HEAD", self.worktree_of(directory));
        self.emit(directory, "file.watcher.updated", json!({"file": head, "event": "add"}));
        let told = current.map_or_else(|| json!({}), |branch| json!({"branch": branch}));
        self.emit(directory, "vcs.branch.updated", told);
    }

    pub(super) fn tell_branches(&mut self, ticket: Ticket, current: Option<String>, default: Option<String>) {
        self.reply_json(ticket, json!({"branch": current, "default_branch": default}));
    }

    /// `GET /vcs/status`.
    pub(super) fn vcs_status(&mut self, request: &ApiRequest) {
        self.ask_changes(request, Kind::Status);
    }

    /// `GET /vcs/diff`: against the commit, or against the default branch.
    pub(super) fn vcs_diff(&mut self, request: &ApiRequest) {
        let mode = request.query.iter().find(|(key, _)| key == "mode").map(|(_, mode)| mode.as_str());
        match (mode, self.part_of_repository(request)) {
            (Some("branch"), Some(below)) => {
                let (ticket, context) = (request.ticket, context_of(request));
                let question = Question { ticket, below, kind: Kind::Diff, context };
                let folder = self.directory_of(request);
                self.ask_place(PlaceAsk::OnBranch(question, folder.clone()), PlaceWish::Branches { folder });
            }
            (Some("git"), _) => self.ask_changes(request, Kind::Diff),
            _ => self.reply_json(request.ticket, json!([])),
        }
    }

    /// What a branch has changed since it left the default one; on that there is nothing to compare it with.
    pub(super) fn branch_known(
        &mut self,
        (question, folder): (Question, String),
        current: Option<String>,
        default: Option<String>,
    ) {
        match default.filter(|default| current.as_ref() != Some(default)) {
            Some(branch) => {
                let wish = PlaceWish::Since { folder, branch: Some(branch) };
                self.ask_place(PlaceAsk::Changes(question), wish);
            }
            None => self.reply_json(question.ticket, json!([])),
        }
    }

    /// `GET /vcs/diff/raw`.
    pub(super) fn vcs_diff_raw(&mut self, request: &ApiRequest) {
        self.ask_changes(request, Kind::Raw);
    }

    fn part_of_repository(&self, request: &ApiRequest) -> Option<String> {
        let directory = self.directory_of(request);
        let path = self.in_repository(&directory)?;
        Some(if path.is_empty() { String::new() } else { format!("{path}/") })
    }

    fn ask_changes(&mut self, request: &ApiRequest, kind: Kind) {
        let ticket = request.ticket;
        match self.part_of_repository(request) {
            Some(below) => {
                let question = Question { ticket, below, kind, context: context_of(request) };
                let wish = PlaceWish::Since { folder: self.directory_of(request), branch: None };
                self.ask_place(PlaceAsk::Changes(question), wish);
            }
            None => {
                let question = Question { ticket, below: String::new(), kind, context: 0 };
                self.tell_changes(&question, &[], &[]);
            }
        }
    }

    pub(super) fn changed(&mut self, question: Question, mut changes: Vec<FileChange>) {
        changes.retain(|change| change.path.starts_with(&question.below));
        if question.kind == Kind::Raw {
            if changes.iter().all(|change| change.before.is_some()) {
                return self.tell_changes(&question, &changes, &[]);
            }
            // What git does not know yet stands at the end.
            let folder = self.config.directory.clone();
            let asks = vec![vec!["ls-files".to_owned(), "-z".to_owned()]];
            return self.ask_place(PlaceAsk::Tracked(question, changes), PlaceWish::Git { folder, asks });
        }
        changes.sort_by(|a, b| in_dictionary(&a.path, &b.path));
        self.tell_changes(&question, &changes, &[]);
    }

    /// It is known which files git knows.
    pub(super) fn tracked(
        &mut self,
        question: &Question,
        changes: Vec<FileChange>,
        said: Option<Vec<String>>,
    ) {
        let said = said.unwrap_or_default().concat();
        let known: BTreeSet<&str> = said.split('\0').collect();
        let is_known = |change: &FileChange| change.before.is_some() || known.contains(change.path.as_str());
        let (known, new): (Vec<_>, Vec<_>) = changes.into_iter().partition(is_known);
        self.tell_changes(question, &known, &new);
    }

    fn tell_changes(&mut self, question: &Question, changes: &[FileChange], new: &[FileChange]) {
        let &Question { ticket, kind, context, ref below } = question;
        match kind {
            Kind::Raw => {
                let known = changes.iter().map(patch::of_git).collect();
                // From a folder of the repository the real servers don't find what is new.
                let new = new.iter().filter(|_| below.is_empty()).map(patch::of_git);
                let texts: Vec<String> =
                    std::iter::once(known).chain(new).filter(|text: &String| !text.is_empty()).collect();
                let bytes = texts.join("\n").into_bytes();
                let body = ReplyBody::Bytes("text/x-diff; charset=utf-8".to_owned(), bytes);
                self.reply_with(ticket, ApiReply { status: 200, headers: Vec::new(), body });
            }
            Kind::Diff if !below.is_empty() => {
                let list = changes.iter().map(|change| describe_lost(change, context)).collect();
                self.reply_json(ticket, Value::Array(list));
            }
            _ => {
                let list = changes.iter().map(|change| match kind {
                    Kind::Diff => describe(change, Some(context)),
                    _ => describe(change, None),
                });
                let list = list.collect();
                self.reply_json(ticket, Value::Array(list));
            }
        }
    }
}

/// Who does not say how much is told of a file is told all of it.
fn context_of(request: &ApiRequest) -> usize {
    let said = request.query.iter().find(|(name, _)| name == "context");
    said.and_then(|(_, said)| said.parse().ok()).unwrap_or(usize::MAX)
}

/// From a folder of the repository the real servers look for new files at the wrong place.
fn describe_lost(change: &FileChange, context: usize) -> Value {
    let mut wire = describe(change, Some(context));
    if change.before.is_none() {
        wire["patch"] = json!(patch::index_style(&change.path, "", "", patch::Header::Tab));
        wire["additions"] = json!(0);
    }
    wire
}

fn status(change: &FileChange) -> &'static str {
    match (&change.before, &change.after) {
        (None, _) => "added",
        (_, None) => "deleted",
        _ => "modified",
    }
}

/// With a patch that has so many lines around each change, if it is to have one.
fn describe(change: &FileChange, context: Option<usize>) -> Value {
    let (additions, deletions) = patch::count(change);
    let status = status(change);
    let mut wire = json!({"file": change.path});
    if let Some(context) = context {
        wire["patch"] = json!(patch::of_git_within(change, context));
    }
    wire["additions"] = json!(additions);
    wire["deletions"] = json!(deletions);
    wire["status"] = json!(status);
    wire
}
