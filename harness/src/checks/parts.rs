//! Do rows keep what they are: tool calls only move on, words are words and thoughts are thoughts?

use super::{Check, Examined, word};
use crate::course::Course;
use crate::history;
use crate::protocol::{Item, ItemKind, Screen, ToolState};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECK: Check = Check {
    name: "parts",
    about: "A tool call only moves on, no faster than the server tells, and keeps its name; what the agent says, thinks and does is never taken for each \
            other.",
    needs: &[],
    has_occasion: |course| course.has_answer(|_| true),
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let (kinds, names) = kinds(course);
    let persons = persons(course);
    let over = over(course);
    let mut screen = Screen::default();
    let mut before: BTreeMap<String, Item> = BTreeMap::new();
    let mut told: BTreeSet<String> = BTreeSet::new();
    for (said, update) in course.shown() {
        screen.apply(update);
        let Some(view) = update.task_id().and_then(|task| screen.tasks.get(task)) else { continue };
        for item in &view.items {
            let id = &item.part_id;
            let was = before.get(id);
            if was == Some(item) {
                continue;
            }
            // Who stops a call may show it as failed before the server has come to it.
            let regressed = was.is_some_and(|was| {
                let fails_when_done =
                    (was.state, item.state) == (Some(ToolState::Done), Some(ToolState::Error));
                rank(was.state) > rank(item.state) || fails_when_done
            });
            let is_early = item.state == Some(ToolState::Done)
                && over.get(id.as_str()).is_some_and(|at_us| said.at_us + TOLERANCE_US < *at_us);
            let server = names.get(id);
            let is_name = |name: &String| server.is_none_or(|names| names.contains(name));
            let renamed = !item.tool.as_ref().is_none_or(is_name);
            let mistaken = kinds.get(id).is_some_and(|kind| *kind != item.kind);
            examined.facts += 1;
            let finding = if regressed {
                let was = was.and_then(|was| was.state);
                Some(format!("the call {id} goes back from {} to {}", word(was), word(item.state)))
            } else if is_early {
                Some(format!("the call {id} is shown as {} while it is still at work", word(item.state)))
            } else if renamed {
                Some(format!("the call {id} has a name that the server did not give it"))
            } else if persons.contains(&item.message_id) {
                Some(format!("{id} is the person's own, and is shown as the agent's"))
            } else if mistaken {
                Some(format!("{id} is shown as {}, and the server says otherwise", word(item.kind)))
            } else {
                None
            };
            examined.findings.extend(finding.filter(|_| told.insert(id.clone())));
            before.insert(id.clone(), item.clone());
        }
    }
    examined
}

/// The harness's own eyes may see the end of a call later than the adapter does; not by more than this.
const TOLERANCE_US: u64 = 100_000;

/// When the server first told that a call is over, to whomever. Of one whose end was told by no event nothing is known.
fn over<'a>(course: &'a Course<'_>) -> BTreeMap<&'a str, u64> {
    let mut over = BTreeMap::new();
    for sent in course.events.iter().chain(course.streams().flat_map(|stream| &stream.events)) {
        let part = &sent.event["properties"]["part"];
        if let (Some(id), Some("completed" | "error")) =
            (part["id"].as_str(), part["state"]["status"].as_str())
        {
            let first = over.entry(id).or_insert(sent.at_us);
            *first = sent.at_us.min(*first);
        }
    }
    over
}

fn rank(state: Option<ToolState>) -> u8 {
    match state {
        None => 0,
        Some(ToolState::Pending) => 1,
        Some(ToolState::Running) => 2,
        Some(ToolState::Done | ToolState::Error) => 3,
    }
}

/// What the server says that a part is, and which names it has given to a call.
fn kinds(course: &Course<'_>) -> (BTreeMap<String, ItemKind>, BTreeMap<String, BTreeSet<String>>) {
    let mut kinds = BTreeMap::new();
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut note = |part: &Value| {
        let kind = match part["type"].as_str() {
            Some("text") => ItemKind::Text,
            Some("reasoning") => ItemKind::Reasoning,
            Some("tool") => ItemKind::Tool,
            _ => return,
        };
        if let Some(id) = part["id"].as_str() {
            kinds.insert(id.to_owned(), kind);
            names.entry(id.to_owned()).or_default().extend(part["tool"].as_str().map(str::to_owned));
        }
    };
    course.events.iter().for_each(|sent| note(&sent.event["properties"]["part"]));
    for list in history::reads(course.lines, |path| path.ends_with("/message")) {
        let messages = list.as_array().into_iter().flatten();
        messages.flat_map(|message| message["parts"].as_array().into_iter().flatten()).for_each(&mut note);
    }
    (kinds, names)
}

/// The person's messages.
fn persons(course: &Course<'_>) -> BTreeSet<String> {
    let told = course.events.iter().filter(|sent| sent.kind() == "message.updated");
    let told = told.map(|sent| &sent.event["properties"]["info"]);
    let lists = history::reads(course.lines, |path| path.ends_with("/message"));
    let read =
        lists.iter().flat_map(|list| list.as_array().into_iter().flatten()).map(|message| &message["info"]);
    let own = told.chain(read).filter(|info| info["role"] == "user");
    own.filter_map(|info| info["id"].as_str().map(str::to_owned)).collect()
}
