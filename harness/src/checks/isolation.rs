//! Does each task show what is its own, at every moment?
//!
//! Whose a message, a part or a question is, the server says: in its events, and in what it answers when it is read.
//! What it never had is nobody's.

use super::{Check, Examined, rests};
use crate::course::{Course, Started};
use crate::history;
use crate::protocol::Update;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECK: Check = Check {
    name: "isolation",
    about: "At every moment a task shows what its own session has said, done and asked, and nothing else.",
    needs: &[],
    has_occasion: |course| course.has_answer(|_| true),
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let owners = owners(course);
    let mut examined = Examined::default();
    let mut seen = BTreeSet::new();
    for (_, update) in course.shown() {
        let Some(task) = update.task_id() else { continue };
        let Some(started) = course.tasks.iter().find(|started| started.task == task) else {
            examined.fact(false, || format!("{task} was never started, and something is shown in it"));
            continue;
        };
        to_do(course, started, update, &mut examined);
        for id in ids(update) {
            if !seen.insert((task.to_owned(), id.to_owned())) {
                continue;
            }
            let owner = owners.get(id);
            examined.fact(owner.is_some_and(|owner| is_own(course, started, id, owner)), || match owner {
                Some(owner) => {
                    format!("{task} shows {id}, which is {owner}'s, and not {}'s", started.session)
                }
                None => format!("{task} shows {id}, which the server never had"),
            });
        }
    }
    for task in &course.tasks {
        rests::examine(course, task, &mut examined);
    }
    examined
}

/// What asks is asked for the children too; what is said and done is each session's own.
fn is_own(course: &Course<'_>, task: &Started, id: &str, owner: &str) -> bool {
    let asks = id.starts_with("per_") || id.starts_with("que_");
    owner == task.session || (asks && course.family_of(owner).contains(&task.session))
}

/// A list of things to do is one that the server had of this session.
fn to_do(course: &Course<'_>, task: &Started, update: &Update, examined: &mut Examined) {
    let shown = match update {
        Update::Todo { todos, .. } => todos,
        Update::Timeline { view, .. } => &view.todos,
        _ => return,
    };
    if shown.is_empty() {
        return;
    }
    let lines = |list: &Value| -> Vec<(String, String)> {
        let word = |item: &Value, field: &str| item[field].as_str().unwrap_or_default().to_owned();
        let items = list.as_array().into_iter().flatten();
        items.map(|item| (word(item, "content"), word(item, "status"))).collect()
    };
    let shown: Vec<_> = shown.iter().map(|item| (item.content.clone(), item.status.clone())).collect();
    let events = course.events.iter().chain(course.streams().flat_map(|stream| &stream.events));
    let told = events.filter(|sent| sent.kind() == "todo.updated" && sent.session() == Some(&task.session));
    let told = told.map(|sent| lines(&sent.event["properties"]["todos"]));
    let place = format!("/session/{}/todo", task.session);
    let read = history::reads(course.lines, |path| path == place);
    let is_own = told.chain(read.iter().map(lines)).any(|list| list == shown);
    examined.fact(is_own, || {
        let words: Vec<&str> = shown.iter().map(|(content, _)| content.as_str()).collect();
        format!("{} shows a list of things to do that its session never had: {words:?}", task.task)
    });
}

/// What an update shows.
fn ids(update: &Update) -> Vec<&str> {
    match update {
        Update::AssistantDelta { message_id, part_id, .. }
        | Update::ReasoningDelta { message_id, part_id, .. }
        | Update::UnknownPart { message_id, part_id, .. } => {
            vec![message_id, part_id]
        }
        Update::ToolState { message_id, tool_id, .. } => vec![message_id, tool_id],
        Update::PermissionRequest { permission_id, .. } => vec![permission_id],
        Update::Question { question_id, .. } => vec![question_id],
        Update::Timeline { view, .. } => {
            let items = view.items.iter().flat_map(|item| [item.message_id.as_str(), item.part_id.as_str()]);
            let asked = view.permissions.iter().map(|asked| asked.permission_id.as_str());
            let questions = view.questions.iter().map(|asked| asked.question_id.as_str());
            items.chain(asked).chain(questions).collect()
        }
        _ => Vec::new(),
    }
}

/// Message, part or question → session.
fn owners(course: &Course<'_>) -> BTreeMap<String, String> {
    let mut owners = BTreeMap::new();
    let mut note = |id: &Value, session: &str| {
        if let Some(id) = id.as_str() {
            owners.insert(id.to_owned(), session.to_owned());
        }
    };
    for sent in &course.events {
        let (Some(session), properties) = (sent.session(), &sent.event["properties"]) else { continue };
        for id in [
            &properties["id"],
            &properties["info"]["id"],
            &properties["part"]["id"],
            &properties["part"]["messageID"],
        ] {
            note(id, session);
        }
    }
    for list in history::reads(course.lines, |path| path.ends_with("/message")) {
        for message in list.as_array().into_iter().flatten() {
            let Some(session) = message["info"]["sessionID"].as_str() else { continue };
            note(&message["info"]["id"], session);
            for part in message["parts"].as_array().into_iter().flatten() {
                note(&part["id"], session);
            }
        }
    }
    for list in history::reads(course.lines, |path| matches!(path, "/permission" | "/question")) {
        for asked in list.as_array().into_iter().flatten() {
            if let Some(session) = asked["sessionID"].as_str() {
                note(&asked["id"], session);
            }
        }
    }
    owners
}
