//! The checks of the kit: each a pure function of a history, in a file of its own.

mod blocked;
mod checkpoints;
mod contained;
mod containers;
mod diff_log;
mod forks;
mod left_overs;
mod order;
mod place;
mod plan;
mod resumes;
mod secrets;
mod status;
mod taken_back;
mod told;
mod unattended;
mod unremoved;
mod whole;
mod work;

use super::repository::is_reserved;
use crate::kit::Check;
use crate::story::{Seen, Story};
use harness::protocol::RpcError;
use serde_json::Value;

pub(super) fn all() -> Vec<Check> {
    vec![
        checkpoints::CHECK,
        whole::CHECK,
        order::CHECK,
        resumes::CHECK,
        told::CHECK,
        place::CHECK,
        forks::CHECK,
        diff_log::CHECK,
        work::CHECK,
        blocked::CHECK,
        unattended::CHECK,
        plan::CHECK,
        containers::CHECK,
        status::CHECK,
        taken_back::CHECK,
        left_overs::CHECK,
        unremoved::CHECK,
        contained::CHECK,
        secrets::CHECK,
    ]
}

/// What the case is about.
fn subject(story: &Story<'_>) -> Value {
    story.seen_of("pipeline").next().map(|seen| seen.value.clone()).unwrap_or_default()
}

/// What stood on the disk, each time that the harness looked.
fn looks<'a>(story: &'a Story<'_>, when: &'a [&str]) -> impl Iterator<Item = &'a Seen> {
    story.seen_of("disk").filter(move |seen| seen.value["when"].as_str().is_some_and(|it| when.contains(&it)))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Names, as a person reads them.
fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// What a checkpoint says, as a person reads it.
fn says(status: Option<&str>) -> String {
    status.map_or_else(|| "nothing, for there is none".to_owned(), |status| format!("\"{status}\""))
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The phases that were prompted, in all runs, in order.
fn prompted<'a>(story: &'a Story<'_>) -> impl Iterator<Item = &'a Value> {
    story.seen_of("prompted").flat_map(|seen| list(&seen.value["prompted"]))
}

/// Whose work it is, where two issues are worked on at once.
fn issue_of<'a>(prompted: &'a Value, subject: &'a Value) -> &'a str {
    prompted["issue"].as_str().unwrap_or_else(|| word(subject, "issue"))
}

/// Is an issue called what no file can be called, here or elsewhere? Who does not refuse it gives its files names of his own.
fn is_no_name(issue: &str) -> bool {
    issue.contains('/') || is_reserved(issue)
}

/// What the call before this line was answered with.
fn answer_before<'a>(story: &'a Story<'_>, line: usize) -> Option<&'a Result<Value, RpcError>> {
    let call = story.calls.iter().rfind(|call| call.at.line < line)?;
    call.answer.as_ref().map(|(_, answer)| answer)
}

/// Why the runner refused the call before this line, in brackets behind a finding.
fn refused_before(story: &Story<'_>, line: usize) -> String {
    let refused = answer_before(story, line).and_then(|answer| answer.as_ref().err());
    refused.map(|error| format!(" ({})", error.message)).unwrap_or_default()
}

/// Was the call before this line answered otherwise than with a success?
fn is_refused_before(story: &Story<'_>, line: usize) -> bool {
    let answer = answer_before(story, line);
    answer.is_some_and(|answer| answer.as_ref().map_or(true, |said| said["status"] != "success"))
}

/// What the runner said in the call before this line: what it answered, and what it showed meanwhile.
fn said_before(story: &Story<'_>, line: usize) -> String {
    let Some(call) = story.calls.iter().rfind(|call| call.at.line < line) else { return String::new() };
    let shown = story.updates.iter().filter(|told| (call.at.line..line).contains(&told.at.line));
    let mut said: String = shown.map(|told| told.update.to_string()).collect();
    if let Some((_, answer)) = &call.answer {
        said += &answer.as_ref().map_or_else(|error| error.message.clone(), Value::to_string);
    }
    said
}

/// What the checkpoint of a phase says that came of it, when the harness looked.
fn status_in<'a>(look: &'a Seen, issue: &str, phase: &str) -> Option<&'a str> {
    let name = format!("{issue}-{phase}.json");
    let found = list(&look.value["checkpoints"]).iter().find(|it| word(it, "file") == name)?;
    found["says"]["status"].as_str()
}
