//! A session is taken back to a prompt, with the files; it can be brought again until the next prompt.

use super::routes::body_of;
use super::session::{Message, Session};
use super::summary;
use super::{
    ApiRequest, Beside, Effect, EffectResult, FileChange, Purpose, RestoredFile, Ticket, World, git_renames,
};
use serde_json::{Value, json};

/// A way back in progress.
#[derive(Debug)]
pub(crate) struct Rewind {
    ticket: Ticket,
    session: String,
    /// The first message that goes; none when everything comes back.
    to: Option<Point>,
    /// Files that an earlier way back has changed.
    earlier: Vec<RestoredFile>,
    /// The files that the prompts behind the point changed, as they were before.
    files: Vec<RestoredFile>,
    /// The state that unreverting brings back.
    snapshot: Option<String>,
    /// The difference between that state and the one after the way back.
    diff: Option<String>,
    stage: Stage,
}

/// What was asked for last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Looking,
    PuttingBack,
    LookingAgain,
    Comparing,
    Counting,
}

/// Where a session is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Point {
    message: String,
    part: Option<String>,
}

impl World {
    /// `POST /session/{id}/revert`.
    pub(super) fn revert(&mut self, request: &ApiRequest, id: &str) {
        let body = body_of(request);
        let message = body["messageID"].as_str().unwrap_or_default();
        if self.refuse_while_busy(request.ticket, id) {
            return;
        }
        let part = body.get("partID").and_then(Value::as_str);
        let Some(session) = self.sessions.get(id) else { return };
        let Some((to, files)) = way_back(session, message, part) else {
            let info = self.session_info(id);
            return self.reply_json(request.ticket, info);
        };
        let snapshot = kept_snapshot(session);
        let earlier = snapshot.iter().flat_map(|tree| self.brought_back(session, tree)).collect();
        let stage = if snapshot.is_some() { Stage::PuttingBack } else { Stage::Looking };
        let rewind = Rewind {
            ticket: request.ticket,
            session: id.to_owned(),
            to: Some(to),
            earlier,
            files,
            snapshot,
            diff: None,
            stage,
        };
        match rewind.stage {
            Stage::Looking => {
                let directory = session.directory.clone();
                self.effect(Purpose::Rewind(Box::new(rewind)), self.snapshot_of(&directory));
            }
            _ => self.put_back(rewind),
        }
    }

    /// `POST /session/{id}/unrevert`.
    pub(super) fn unrevert(&mut self, ticket: Ticket, id: &str) {
        if self.refuse_while_busy(ticket, id) {
            return;
        }
        let Some(session) = self.sessions.get(id) else { return };
        if session.revert.is_none() {
            let info = self.session_info(id);
            return self.reply_json(ticket, info);
        }
        let snapshot = kept_snapshot(session);
        let earlier = snapshot.iter().flat_map(|tree| self.brought_back(session, tree)).collect();
        self.put_back(Rewind {
            ticket,
            session: id.to_owned(),
            to: None,
            earlier,
            files: Vec::new(),
            snapshot,
            diff: None,
            stage: Stage::PuttingBack,
        });
    }

    /// What brings back the state before an earlier revert.
    fn brought_back(&self, session: &Session, tree: &str) -> Vec<RestoredFile> {
        if !self.profile.restores_only_changed {
            return vec![RestoredFile { tree: tree.to_owned(), path: None }];
        }
        let Some(revert) = &session.revert else { return Vec::new() };
        let (mut found, mut is_behind) = (Vec::new(), false);
        for message in &session.messages {
            for part in &message.parts {
                if is_behind && part["type"] == "patch" {
                    found.extend(changed_files(session, part, tree));
                }
                is_behind |= message.id() == revert["messageID"]
                    && revert.get("partID").is_none_or(|wanted| part["id"] == *wanted);
            }
        }
        found
    }

    fn put_back(&mut self, rewind: Rewind) {
        // What is put back twice ends as the later one has it.
        let stage = Stage::PuttingBack;
        let directory = self.directory_of_session(&rewind.session);
        let files = rewind.earlier.clone();
        if files.is_empty() {
            return self.put_files_back(rewind);
        }
        self.effect(
            Purpose::Rewind(Box::new(Rewind { earlier: Vec::new(), stage, ..rewind })),
            Effect::Restore { directory, files },
        );
    }

    fn put_files_back(&mut self, rewind: Rewind) {
        if rewind.to.is_none() {
            return self.unreverted(&rewind);
        }
        let files = rewind.files.clone();
        let stage = Stage::LookingAgain;
        let directory = self.directory_of_session(&rewind.session);
        self.effect(
            Purpose::Rewind(Box::new(Rewind { stage, ..rewind })),
            Effect::Restore { directory, files },
        );
    }

    /// One more thing is done.
    pub(super) fn rewound(&mut self, rewind: Rewind, result: EffectResult) {
        match (rewind.stage, result) {
            (Stage::Looking, EffectResult::Snapshot(tree)) => {
                self.put_back(Rewind { snapshot: Some(tree), stage: Stage::PuttingBack, ..rewind });
            }
            (Stage::PuttingBack, EffectResult::Written(_)) => self.put_files_back(rewind),
            (Stage::LookingAgain, EffectResult::Written(_)) => {
                let Some(session) = self.sessions.get(&rewind.session) else { return };
                let directory = session.directory.clone();
                let stage = Stage::Comparing;
                self.effect(
                    Purpose::Rewind(Box::new(Rewind { stage, ..rewind })),
                    self.snapshot_of(&directory),
                );
            }
            (Stage::Comparing, EffectResult::Snapshot(tree)) => {
                let from = rewind.snapshot.clone().unwrap_or_default();
                let effect = Effect::Changes { from, to: tree, beside: Beside::Nothing };
                self.effect(Purpose::Rewind(Box::new(rewind)), effect);
            }
            (Stage::Comparing, EffectResult::Changes(changes)) => self.compared(rewind, &changes),
            (Stage::Counting, EffectResult::Changes(changes)) => self.reverted(&rewind, &changes),
            _ => {}
        }
    }

    fn compared(&mut self, rewind: Rewind, changes: &[FileChange]) {
        let Some(session) = self.sessions.get(&rewind.session) else { return };
        let from = rewind.to.as_ref().map_or("", |point| point.message.as_str());
        let effect = summary::changes_of(session.messages.iter().skip_while(|message| message.id() != from));
        let diff = Some(git_renames::whole(changes));
        self.effect(Purpose::Rewind(Box::new(Rewind { diff, stage: Stage::Counting, ..rewind })), effect);
    }

    fn reverted(&mut self, rewind: &Rewind, changes: &[FileChange]) {
        let id = &rewind.session;
        let (mut diffs, summary) = self.diffs(changes);
        let kept = diffs.clone();
        diffs.iter_mut().for_each(summary::quote_name);
        self.emit_session(id, "session.diff", json!({"sessionID": id, "diff": diffs}));
        let Some(point) = &rewind.to else { return };
        let mut revert = json!({"messageID": point.message});
        if let Some(part) = &point.part {
            revert["partID"] = json!(part);
        }
        if let Some(snapshot) = rewind.snapshot.as_ref().filter(|tree| !tree.is_empty()) {
            revert["snapshot"] = json!(snapshot);
            revert["diff"] = json!(rewind.diff);
        }
        if self.profile.restores_only_changed {
            revert["workspace"] = json!(match rewind.files.is_empty() {
                false => "restored",
                true if self.keeps_snapshots(self.folder_of(id)) => "unavailable",
                true => "snapshots-disabled",
            });
        }
        let files = self.profile.restores_only_changed.then(|| counts_of(&diffs));
        let is_summed_up = self.profile.session_summary;
        let now = self.now_ms;
        self.change_session(id, |session| {
            session.revert = Some(revert);
            session.summary = Some(summary);
            session.summary_diffs = files;
            if is_summed_up {
                session.diff = kept;
            }
            session.touch(now);
        });
        let info = self.session_info(id);
        self.reply_json(rewind.ticket, info);
    }

    fn unreverted(&mut self, rewind: &Rewind) {
        self.clear_revert(&rewind.session);
        let info = self.session_info(&rewind.session);
        self.reply_json(rewind.ticket, info);
    }

    fn clear_revert(&mut self, id: &str) {
        let now = self.now_ms;
        self.change_session(id, |session| {
            session.revert = None;
            session.touch(now);
        });
    }

    /// The next prompt makes a way back final: what lies behind it goes.
    pub(crate) fn forget_reverted(&mut self, id: &str) {
        let Some(session) = self.sessions.get(id) else { return };
        let Some(revert) = session.revert.clone() else { return };
        let part = revert["partID"].as_str();
        let from = session.messages.iter().position(|message| message.id() == revert["messageID"]);
        let behind = from.map_or(&[][..], |from| &session.messages[from..]);
        let messages: Vec<String> =
            behind.iter().skip(usize::from(part.is_some())).map(|m| m.id().to_owned()).collect();
        let parts: Vec<String> = match (behind.first(), part) {
            (Some(cut), Some(part)) => {
                let rest = cut.parts.iter().skip_while(|known| known["id"] != *part);
                rest.filter_map(|part| part["id"].as_str()).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        let cut = revert["messageID"].as_str().unwrap_or_default();
        for message in messages {
            self.remove_message(id, &message);
        }
        for part in parts {
            self.remove_part(id, cut, &part);
        }
        self.clear_revert(id);
    }
}

/// Where a session is cut, and the files that were changed behind it. A part is cut off only behind something that was
/// said or done; else the whole prompt goes.
fn way_back(session: &Session, message: &str, part: Option<&str>) -> Option<(Point, Vec<RestoredFile>)> {
    let mut prompt: Option<&Message> = None;
    let mut point = None;
    let mut files = Vec::new();
    for known in &session.messages {
        if known.role() == "user" {
            prompt = Some(known);
        }
        let mut has_said = false;
        for piece in &known.parts {
            if point.is_some() {
                if piece["type"] == "patch" {
                    let tree = piece["hash"].as_str().unwrap_or_default();
                    files.extend(changed_files(session, piece, tree));
                }
                continue;
            }
            let is_meant = match part {
                None => known.id() == message,
                Some(part) => piece["id"] == *part,
            };
            if is_meant {
                let part = part.filter(|_| has_said).map(str::to_owned);
                let cut = prompt.filter(|_| part.is_none()).unwrap_or(known);
                point = Some(Point { message: cut.id().to_owned(), part });
            }
            has_said |= piece["type"] == "text" || piece["type"] == "tool";
        }
    }
    point.map(|point| (point, files))
}

fn changed_files(session: &Session, patch: &Value, tree: &str) -> Vec<RestoredFile> {
    let files = patch["files"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let inside = files.filter_map(|file| file.strip_prefix(&session.directory)?.strip_prefix('/'));
    inside.map(|path| RestoredFile { tree: tree.to_owned(), path: Some(path.to_owned()) }).collect()
}

fn kept_snapshot(session: &Session) -> Option<String> {
    session.revert.as_ref()?.get("snapshot")?.as_str().map(str::to_owned)
}

/// Diffs without their text.
fn counts_of(diffs: &[Value]) -> Value {
    let counts = |diff: &Value| {
        json!({"file": diff["file"], "additions": diff["additions"], "deletions": diff["deletions"],
               "status": diff["status"]})
    };
    diffs.iter().map(counts).collect()
}
