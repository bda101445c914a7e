//! `apply_patch`: one text adds, deletes, changes and moves several files. A family of models is offered it in place of
//! `edit` and `write`. The person is asked once for all files, as for an `edit`.

mod text;

use super::write::{diff_of, with_mark, without_mark};
use super::{Completed, Plan, relative, resolved};
use crate::world::permission::Wish;
use crate::world::{Effect, Found, Purpose, World, patch};
use serde_json::{Value, json};
use std::collections::VecDeque;
use text::{Section, applied, sections};

/// A patch on its way: what is still to be looked at, what is known, what is still to be done.
#[derive(Debug, Clone)]
pub(crate) struct PatchPlan {
    sections: VecDeque<Section>,
    files: Vec<File>,
    acts: VecDeque<Act>,
}

/// What becomes of one file.
#[derive(Debug, Clone)]
struct File {
    /// Absolute.
    path: String,
    kind: &'static str,
    before: String,
    after: String,
    has_mark: bool,
    moved_to: Option<String>,
}

/// Something is written or taken away.
#[derive(Debug, Clone)]
struct Act {
    path: String,
    content: Option<String>,
    /// With it this file is done.
    edits: Option<String>,
}

fn unverified(why: &str) -> String {
    format!("apply_patch verification failed: {why}")
}

const EMPTY_REFUSED: &str = "patch rejected: empty patch";
const EMPTY: &str = "*** Begin Patch\n*** End Patch";

impl World {
    /// What is wrong with a patch whatever the files hold.
    pub(super) fn vain_patch(&self, session: &str, call: usize) -> Option<String> {
        let text = self.text_argument(session, call, "patchText")?;
        if text.is_empty() {
            return Some("patchText is required".to_owned());
        }
        match sections(&text) {
            Err(why) => Some(unverified(&format!("Error: {why}"))),
            Ok(sections) if !sections.is_empty() => None,
            Ok(_) => {
                let plain = text.replace("\r\n", "\n").replace('\r', "\n");
                let is_empty = crate::javascript::trimmed(&plain) == EMPTY;
                Some(if is_empty { EMPTY_REFUSED.to_owned() } else { unverified("no hunks found") })
            }
        }
    }

    /// A patch that only adds files looks at none: the first of them, relative to the project's folder.
    pub(super) fn added_by_patch(&self, session: &str, call: usize) -> Option<String> {
        let directory = &self.sessions.get(session)?.directory;
        let sections = sections(&self.text_argument(session, call, "patchText")?).ok()?;
        let adds = sections.iter().all(|section| matches!(section, Section::Add { .. }));
        let first = sections.first().filter(|_| adds)?;
        Some(relative(&self.worktree_of(directory), &resolved(directory, first.path())))
    }

    pub(super) fn start_patch(&mut self, session: &str, call: usize) {
        let text = self.text_argument(session, call, "patchText").unwrap_or_default();
        let sections = sections(&text).unwrap_or_default().into();
        let plan = PatchPlan { sections, files: Vec::new(), acts: VecDeque::new() };
        self.look_at_next_file(session, call, plan);
    }

    fn refuse_patch(&mut self, session: &str, call: usize, why: &str) {
        self.fail_call(session, call, &unverified(why));
    }

    /// The next file that the patch is about: what it holds has to be known before anybody is asked.
    fn look_at_next_file(&mut self, session: &str, call: usize, mut plan: PatchPlan) {
        let Some(directory) = self.sessions.get(session).map(|owner| owner.directory.clone()) else { return };
        loop {
            let Some(section) = plan.sections.front() else { return self.ask_to_patch(session, call, plan) };
            let path = resolved(&directory, section.path());
            let moved_to = match section {
                Section::Update { moved_to: Some(to), .. } => Some(resolved(&directory, to)),
                _ => None,
            };
            if let Some(outside) = [Some(&path), moved_to.as_ref()]
                .into_iter()
                .flatten()
                .find(|path| !self.is_inside(&directory, path))
            {
                let message =
                    format!("standin applies no patch that leaves the workspace, as {outside} does");
                return self.fail_call(session, call, &message);
            }
            let Section::Add { content, .. } = section else {
                self.set_plan(session, call, Plan::Patch(Box::new(plan)));
                return self.effect(Purpose::CallRead(session.to_owned(), call), Effect::Read { path });
            };
            let ending = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
            let (after, has_mark) = without_mark(&format!("{content}{ending}"));
            plan.files.push(File {
                path,
                kind: "add",
                before: String::new(),
                after,
                has_mark,
                moved_to: None,
            });
            plan.sections.pop_front();
        }
    }

    /// It is known what the file holds.
    pub(super) fn file_to_patch(&mut self, session: &str, call: usize, mut plan: PatchPlan, found: &Found) {
        let Some(directory) = self.sessions.get(session).map(|owner| owner.directory.clone()) else { return };
        let Some(section) = plan.sections.pop_front() else { return };
        let path = resolved(&directory, section.path());
        let held = match found {
            Found::File(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Found::Nothing { .. } | Found::Folder(_) | Found::Tree(_) => None,
        };
        let file = match (section, held) {
            (Section::Update { chunks, moved_to, .. }, Some(held)) => {
                let (before, had_mark) = without_mark(&held);
                let after = match applied(&before, &chunks, &path) {
                    Ok(after) => after,
                    Err(why) => return self.refuse_patch(session, call, &format!("Error: {why}")),
                };
                let (after, has_mark) = without_mark(&after);
                let kind = if moved_to.is_some() { "move" } else { "update" };
                let moved_to = moved_to.map(|to| resolved(&directory, &to));
                File { path, kind, before, after, has_mark: had_mark || has_mark, moved_to }
            }
            (Section::Delete { .. }, Some(before)) => {
                File { path, kind: "delete", before, after: String::new(), has_mark: false, moved_to: None }
            }
            (Section::Delete { .. }, None) => {
                let what = if matches!(found, Found::Nothing { .. }) { "NotFound" } else { "BadResource" };
                return self.refuse_patch(session, call, &format!("{what}: FileSystem.readFile ({path})"));
            }
            (_, None) => {
                return self.refuse_patch(session, call, &format!("Failed to read file to update: {path}"));
            }
            (Section::Add { .. }, Some(_)) => return,
        };
        plan.files.push(file);
        self.look_at_next_file(session, call, plan);
    }

    fn ask_to_patch(&mut self, session: &str, call: usize, plan: PatchPlan) {
        let worktree = self.worktree_of_session(session);
        let patterns: Vec<String> = plan.files.iter().map(|file| relative(&worktree, &file.path)).collect();
        let metadata = json!({
            "filepath": patterns.join(", "), "diff": plan.diff(), "files": plan.told(&worktree),
        });
        self.set_plan(session, call, Plan::Patch(Box::new(plan)));
        let wish = Wish { permission: "edit", patterns, metadata, always: vec!["*".to_owned()] };
        self.ask_or_allow(session, call, &wish);
    }

    fn worktree_of_session(&self, session: &str) -> String {
        let directory = self.sessions.get(session).map_or("", |owner| owner.directory.as_str());
        self.worktree_of(directory)
    }

    pub(super) fn apply_patch(&mut self, session: &str, call: usize, mut plan: PatchPlan) {
        plan.acts = plan.files.iter().flat_map(File::acts).collect();
        self.do_next_of_patch(session, call, plan);
    }

    fn do_next_of_patch(&mut self, session: &str, call: usize, plan: PatchPlan) {
        let next = plan.acts.front().cloned();
        self.set_plan(session, call, Plan::Patch(Box::new(plan.clone())));
        match next {
            Some(Act { path, content, .. }) => {
                self.effect(Purpose::CallWritten(session.to_owned(), call), Effect::Write { path, content });
            }
            None => self.patched(session, call, &plan),
        }
    }

    /// One of its acts is done.
    pub(super) fn patch_went_on(&mut self, session: &str, call: usize, mut plan: PatchPlan) {
        if let Some(file) = plan.acts.pop_front().and_then(|act| act.edits) {
            self.emit_session(session, "file.edited", json!({"file": file}));
        }
        self.do_next_of_patch(session, call, plan);
    }

    fn patched(&mut self, session: &str, call: usize, plan: &PatchPlan) {
        for (file, event) in plan.files.iter().flat_map(File::watched) {
            self.emit_session(session, "file.watcher.updated", json!({"file": file, "event": event}));
        }
        let worktree = self.worktree_of_session(session);
        let lines = plan.files.iter().map(|file| {
            let letter = match file.kind {
                "add" => "A",
                "delete" => "D",
                _ => "M",
            };
            format!("{letter} {}", relative(&worktree, file.place()))
        });
        let mut output =
            format!("Success. Updated the following files:\n{}", lines.collect::<Vec<_>>().join("\n"));
        for file in plan.files.iter().filter(|file| file.kind != "delete") {
            let place = file.place();
            output.push_str(&self.opinion_of(place, &relative(&worktree, place), &file.after));
        }
        let (files, diff) = (plan.told(&worktree), json!({"diff": plan.diff()}));
        let mut metadata = json!({"files": files, "diagnostics": {}, "truncated": false});
        let mut only_told = json!({});
        match self.profile.file_diffs {
            true => only_told = diff,
            false => metadata["diff"] = diff["diff"].clone(),
        }
        self.tell_output(session, call, &output);
        let result = Completed { title: output.clone(), output, metadata, only_told, ..Completed::default() };
        self.complete_call(session, call, result);
    }
}

impl PatchPlan {
    /// The file that is done with this act, and whether it begins with a mark.
    pub(super) fn written(&self) -> Option<(String, bool)> {
        let path = self.acts.front()?.edits.clone()?;
        let has_mark = self.files.iter().any(|file| file.place() == path && file.has_mark);
        Some((path, has_mark))
    }

    fn diff(&self) -> String {
        self.files.iter().map(|file| format!("{}\n", file.diff())).collect()
    }

    fn told(&self, worktree: &str) -> Vec<Value> {
        self.files.iter().map(|file| file.told(worktree)).collect()
    }
}

impl File {
    /// Where it is when the patch is applied, or was.
    fn place(&self) -> &str {
        self.moved_to.as_deref().unwrap_or(&self.path)
    }

    fn diff(&self) -> String {
        diff_of(&self.path, &self.before, &self.after)
    }

    fn told(&self, worktree: &str) -> Value {
        let (additions, deletions) = match self.kind {
            "delete" => (0, self.before.split('\n').count()),
            _ => patch::count_texts(&self.before, &self.after),
        };
        let mut told = json!({
            "filePath": self.path, "relativePath": relative(worktree, self.place()), "type": self.kind,
            "patch": self.diff(), "additions": additions, "deletions": deletions,
        });
        if let Some(to) = &self.moved_to {
            told["movePath"] = json!(to);
        }
        told
    }

    fn acts(&self) -> Vec<Act> {
        let gone = |edits| Act { path: self.path.clone(), content: None, edits };
        let place = self.place().to_owned();
        let written =
            |edits| Act { path: place.clone(), content: Some(with_mark(&self.after, self.has_mark)), edits };
        match self.kind {
            "delete" => vec![gone(None)],
            "move" => vec![written(None), gone(Some(place.clone()))],
            _ => vec![written(Some(place.clone()))],
        }
    }

    /// What whoever watches the folder is told.
    fn watched(&self) -> Vec<(&str, &'static str)> {
        match self.kind {
            "add" => vec![(&self.path, "add")],
            "delete" => vec![(&self.path, "unlink")],
            "move" => vec![(&self.path, "unlink"), (self.place(), "add")],
            _ => vec![(&self.path, "change")],
        }
    }
}
