//! What must hold of a client that rewinds, one file a check; and how the checks read a history.

mod agree;
mod checkpoint;
mod fresh;
mod images;
mod intact;
mod kept;
mod lossless;
mod once;
mod own_repository;
mod persisted;
mod pointed;
mod screen;
mod stopped;
mod told;
mod traces;
mod tree;
mod trees;
mod whole;

use crate::kit::Check;
use crate::story::{Call, Seen, Story, Told};
use serde_json::Value;

/// All of them.
pub(super) fn all() -> Vec<Check> {
    vec![
        kept::CHECK,
        agree::CHECK,
        screen::CHECK,
        pointed::CHECK,
        once::CHECK,
        fresh::CHECK,
        images::CHECK,
        intact::CHECK,
        lossless::CHECK,
        told::CHECK,
        persisted::CHECK,
        whole::CHECK,
        checkpoint::CHECK,
        tree::CHECK,
        own_repository::CHECK,
        stopped::CHECK,
        traces::CHECK,
    ]
}

/// One conversation with its edit, and what came of it.
struct Episode<'s> {
    /// What the harness knows of it.
    told: &'s Value,
    /// The edits, in order.
    edits: Vec<&'s Call>,
    /// What the model was asked, with the tree of that moment.
    asked: Vec<&'s Seen>,
    /// Steps within the client.
    seams: Vec<&'s Told>,
    /// What the user was told as a trouble; what is only mentioned is as it may be.
    notices: Vec<&'s Told>,
    /// The lists that the screen was to show.
    screens: Vec<&'s Told>,
    /// Those behind the opening of another task.
    screens_of_another: Vec<&'s Told>,
    /// Both lists and the tree when all was over.
    after: &'s Value,
}

/// The episodes of a history; one that broke off has shown nothing.
fn episodes<'s>(story: &'s Story<'_>) -> Vec<Episode<'s>> {
    let ends: Vec<&Seen> = story.seen_of("after").collect();
    story
        .seen_of("episode")
        .zip(ends)
        .map(|(begin, end)| {
            let within = begin.at.line..end.at.line;
            let of = |kind: &'static str| -> Vec<&Told> {
                story
                    .updates
                    .iter()
                    .filter(|told| told.kind == kind && within.contains(&told.at.line))
                    .collect()
            };
            // Another task that is opened meanwhile has the screen.
            let mut opened = story.calls.iter().filter(|call| call.method == "task/open");
            let switched = opened.find(|call| within.contains(&call.at.line)).map(|call| call.at.line);
            let is_its_own = |told: &&Told| switched.is_none_or(|line| told.at.line < line);
            let (screens, screens_of_another) = of("stateUpdate").into_iter().partition(is_its_own);
            Episode {
                told: &begin.value,
                edits: story
                    .calls
                    .iter()
                    .filter(|call| call.method == "message/edit" && within.contains(&call.at.line))
                    .collect(),
                asked: story
                    .seen
                    .iter()
                    .filter(|seen| seen.name == "asked" && within.contains(&seen.at.line))
                    .collect(),
                seams: of("seam"),
                notices: of("notice").into_iter().filter(|told| told.warns()).collect(),
                screens,
                screens_of_another,
                after: &end.value,
            }
        })
        .collect()
}

impl<'s> Episode<'s> {
    fn name(&self) -> &str {
        self.told["name"].as_str().unwrap_or_default()
    }

    /// The edit that was done, if one was.
    fn done(&self) -> Option<&'s Call> {
        self.edits.iter().find(|call| call.result().is_some_and(|result| result["ok"] == true)).copied()
    }

    /// So many entries of both lists stay; none where nothing may change. Of two clicks on two messages that depends on which one
    /// has won.
    fn stays(&self) -> Option<(usize, usize)> {
        let is_done = |call: &&Call| call.result().is_some_and(|result| result["ok"] == true);
        let won = self.edits.iter().position(|call| is_done(&&**call)).unwrap_or_default();
        let stays = self.told["clicks"].get(won).unwrap_or(&self.told["stays"]);
        let count = |list: &str| usize::try_from(stays[list].as_u64()?).ok();
        Some((count("user")?, count("model")?))
    }

    /// Was another task opened while the edit was under way? Then it may be done, or fail.
    fn may_fail(&self) -> bool {
        self.told["opened"] == true
    }

    /// Does something within the client fail here, so that the edit has to?
    fn has_to_fail(&self) -> bool {
        let seams = &self.told["seams"];
        let is_set = |name: &str| seams[name] == true;
        let stops_late = !self.told["works_for_ms"].is_null()
            && !(0..=3000).contains(&seams["cancelMs"].as_i64().unwrap_or_default());
        let has_no_checkpoint = !self.told["checkpoints"].is_null() && self.restores().is_empty();
        let does_not_restore = is_set("restoreFails") && !self.told["checkpoints"].is_null();
        let does_not_stop = is_set("cancelFails") && !self.told["works_for_ms"].is_null();
        is_set("reinitFails")
            || is_set("promptRefused")
            || self.model_fails()
            || is_set("taskIsMissing")
            || self.told["switched"] == true
            || self.told["lost"] == true
            || stops_late
            || does_not_stop
            || has_no_checkpoint
            || does_not_restore
    }

    /// Does the model not answer the edited message?
    fn model_fails(&self) -> bool {
        self.told["model_fails"] == true
    }

    /// Is the history a server's? It has no inner parts that could be seen.
    fn is_on_server(&self) -> bool {
        self.told["name"] == "on a server"
    }

    /// What the user has said after going back, in place of an edit.
    fn said_behind(&self) -> Option<&str> {
        self.told["said_behind"].as_str()
    }

    fn was_killed(&self) -> bool {
        self.told["killed"] == true
    }

    /// Was the client closed behind the edit, and opened again?
    fn was_reopened(&self) -> bool {
        self.told["reopened"] == true
    }

    /// The checkpoints that are right to restore, with their trees.
    fn restores(&self) -> &'s [Value] {
        self.told["restores"].as_array().map_or(&[], Vec::as_slice)
    }

    /// What was said and done in a list of the snapshot.
    fn list(&self, name: &str) -> Vec<&'s str> {
        texts(&self.after["snapshot"][name])
    }

    /// The same of a list as it was before the edit.
    fn before(&self, name: &str) -> Vec<&'s str> {
        texts(&self.told[name])
    }

    /// Are both lists as they were? What an agent at work has added behind is its own.
    fn is_unchanged(&self) -> bool {
        let is_so = |name: &str| {
            // A server's client has no list of the model's own.
            if self.is_on_server() && self.after["snapshot"][name].is_null() {
                return true;
            }
            let (before, now) = (self.before(name), self.list(name));
            let extra = usize::from(!self.told["works_for_ms"].is_null());
            now.starts_with(&before) && now.len() <= before.len() + extra
        };
        is_so("user") && is_so("model")
    }

    /// So many entries of a list stay, checkpoints left out: they stand between the others, and are not seen as turns.
    fn turns_that_stay(&self, name: &str) -> Option<usize> {
        let (user, model) = self.stays()?;
        let stays = if name == "user" { user } else { model };
        let entries = self.told[name].as_array().map_or(&[][..], Vec::as_slice);
        Some(entries.iter().take(stays).filter(|entry| entry["says"] != "checkpoint").count())
    }

    /// Does a list hold what stays, then these words, and nothing but an answer behind them?
    fn is_edited(&self, name: &str, words: &str) -> bool {
        let Some(stays) = self.turns_that_stay(name) else { return false };
        let (before, now) = (self.before(name), self.list(name));
        let is_kept = now.len() > stays && now[..stays] == before[..stays.min(before.len())];
        is_kept && now[stays].contains(words) && now.len() <= stays + 2
    }

    /// Where a step within the client began, ended or failed.
    fn seam(&self, name: &str, state: &str) -> Option<&'s Told> {
        let is_it = |told: &&&Told| told.update["name"] == name && told.update["state"] == state;
        self.seams.iter().find(is_it).copied()
    }
}

/// The texts of a list, without checkpoints.
pub(super) fn texts(list: &Value) -> Vec<&str> {
    let entries = list.as_array().into_iter().flatten();
    entries.filter(|entry| entry["says"] != "checkpoint").filter_map(|entry| entry["text"].as_str()).collect()
}

/// The text of a message to the model.
pub(super) fn text_of(message: &Value) -> &str {
    match &message["content"] {
        Value::Array(parts) => parts.iter().find_map(|part| part["text"].as_str()).unwrap_or_default(),
        content => content.as_str().unwrap_or_default(),
    }
}

/// The pictures of a message to the model.
fn pictures(message: &Value) -> Vec<&Value> {
    let parts = message["content"].as_array().into_iter().flatten();
    parts.filter_map(|part| part.pointer("/image_url/url")).collect()
}

/// What the model is told in a request, but for what the client itself puts in front.
fn messages(asked: &Seen) -> Vec<&Value> {
    let messages = asked.value["messages"].as_array().into_iter().flatten();
    messages.filter(|message| message["role"] != "system").collect()
}

/// Does a request carry these words as its last message?
fn carries(asked: &Seen, words: &str) -> bool {
    messages(asked).last().is_some_and(|message| text_of(message).contains(words))
}

/// The new words of an edit.
fn words_of(edit: &Call) -> &str {
    edit.params["text"].as_str().unwrap_or_default()
}
