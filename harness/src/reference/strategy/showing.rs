//! Whose an event is, and what is shown, counted and logged of it.

use crate::protocol::{Attachment, LogLine, Outcome, Process, Update, View};
use serde_json::Value;
use std::collections::BTreeMap;

/// Decides whose an event is.
pub trait Routing: Send {
    /// The sessions that get an event. `ours` are those of the tasks, in the order of the tasks' names; what is
    /// given to another one is not shown.
    fn sessions_of(&self, event: &Value, _ours: &[&str]) -> Vec<String> {
        session_of(event).map(str::to_owned).into_iter().collect()
    }

    /// Is an event that must name a session and does not a mistake of the stream?
    fn needs_session(&self) -> bool {
        true
    }

    /// Is an event that speaks of another session's message a mistake of the stream?
    fn knows_owners(&self) -> bool {
        true
    }
}

/// The session that an event names: at the top, or where it is nested; one without is nobody's.
#[must_use]
pub fn session_of(event: &Value) -> Option<&str> {
    let properties = &event["properties"];
    let about_session = || event["type"].as_str().is_some_and(|kind| kind.starts_with("session."));
    let named = properties["sessionID"].as_str().or_else(|| properties["info"]["sessionID"].as_str());
    let named = named.or_else(|| properties["part"]["sessionID"].as_str());
    named.or_else(|| properties["info"]["id"].as_str().filter(|_| about_session()))
}

/// What to do with a delta of a text whose beginning was never seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnHeadless {
    /// Show nothing of it until the whole text comes.
    Wait,
    /// Show what there is.
    Show,
}

/// What to do with a part of a kind that nobody here knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnUnknownPart {
    /// A row that says that there is something.
    Neutral,
    /// Nothing.
    Hide,
    /// The part itself.
    Show(String),
}

/// Message → its files, each with the id of its part.
pub type Files = BTreeMap<String, Vec<(String, Attachment)>>;

/// Decides what becomes of pieces of text, of tool calls and of files.
pub trait Deltas: Send {
    /// A delta came, and the text before it is not known.
    fn on_headless(&self) -> OnHeadless {
        OnHeadless::Wait
    }

    /// What is shown of a text of the agent, or of a piece of one.
    fn words(&self, text: String) -> String {
        text
    }

    /// Is a text gone on with behind a gap, in which something of it may have been lost?
    fn go_on_over_a_gap(&self) -> bool {
        false
    }

    /// Is it remembered that the first words of a part came before the part, and were not kept?
    fn remembers_lost(&self) -> bool {
        true
    }

    /// Is a delta that stands beside the whole text added to it?
    fn adds_delta_beside(&self) -> bool {
        false
    }

    /// Is a delta added to a text that has ended?
    fn adds_behind_the_end(&self) -> bool {
        false
    }

    /// Is the whole text taken, which comes when a text is done?
    fn takes_whole(&self) -> bool {
        true
    }

    /// May a tool call go back?
    fn goes_back(&self) -> bool {
        false
    }

    /// The status of a command that the row shows, of what the server has told.
    fn exit(&self, told: Option<i64>) -> Option<i64> {
        told
    }

    /// What the row of a command says of its process. No server tells its number.
    fn process(&self) -> Option<Process> {
        Some(Process::Unknown)
    }

    /// Has a call of this tool a row?
    fn shows_tool(&self, _name: &str) -> bool {
        true
    }

    /// A part came, all of it in `raw`, of a kind that nobody here knows.
    fn on_unknown_part(&self, _raw: String) -> OnUnknownPart {
        OnUnknownPart::Neutral
    }

    /// Is a part of a message that nobody has told of kept until it is known whose the message is?
    fn waits_for_message(&self) -> bool {
        true
    }

    /// Where among the files of a message one is put that has so many before it, of all; `None` is nowhere.
    fn place_of_file(&self, before: usize, _all: usize) -> Option<usize> {
        Some(before)
    }

    /// The files of all messages, when they were read as a whole: message → parts.
    fn loaded_files(&self, read: Files) -> Files {
        read
    }

    /// Are thoughts kept apart from words?
    fn keeps_thoughts_apart(&self) -> bool {
        true
    }
}

/// What to do about an event of a type that the adapter has never heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnUnknown {
    /// Count it, log it and go on.
    Count,
    /// Say nothing of it.
    Ignore,
    /// End the program, as an error does that nobody catches.
    Die,
    /// Show it to the person.
    Show,
}

/// Decides what becomes of unknown events.
pub trait UnknownEvents: Send {
    /// An event of this type came.
    fn on_unknown(&self, _kind: &str) -> OnUnknown {
        OnUnknown::Count
    }

    /// What is read in an event's place. One that has another shape than its type is not made to fit.
    fn read_as(&self, event: Value) -> Value {
        event
    }

    /// Is it an error for a task that is in the middle of tools or permissions?
    fn fails_closed(&self) -> bool {
        true
    }

    /// Also when a tool runs and nobody is asked?
    fn minds_tools(&self) -> bool {
        true
    }

    /// Which tasks end in that error: the one that the event is about, or others, too? `delicate` are those in the middle
    /// of tools or permissions.
    fn closed(&self, concerned: String, _delicate: Vec<String>, _all: Vec<String>) -> Vec<String> {
        vec![concerned]
    }

    /// Is it an error for a task that only speaks?
    fn fails_always(&self) -> bool {
        false
    }
}

/// Decides about updates, signals and log lines.
pub trait Telling: Send {
    /// Pieces of text and output are published at most this often, unscaled.
    fn publish_every_ms(&self) -> u64 {
        20
    }

    /// What is logged of a payload that can't be used. It may hold secrets, so: how long it is.
    fn payload(&self, data: &str) -> String {
        format!("{} bytes", data.len())
    }

    /// The line as it is logged.
    fn line(&self, line: LogLine) -> LogLine {
        line
    }

    /// What is shown in an update's place.
    fn shown(&self, update: Update) -> Vec<Update> {
        vec![update]
    }

    /// What the adapter says of its own view of a task.
    fn own_view(&self, view: View) -> View {
        view
    }

    /// What the end of a turn is called.
    fn ended(&self, outcome: Outcome) -> Outcome {
        outcome
    }

    /// What a signal says in the end; `None` when it is not sent.
    fn signal(&self, _name: &str, value: u64) -> Option<u64> {
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Careful;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_session_is_found_at_every_place_and_only_there() {
        for event in [
            json!({ "type": "session.idle", "properties": { "sessionID": "ses_1" } }),
            json!({ "type": "message.updated", "properties": { "info": { "id": "msg_1", "sessionID": "ses_1" } } }),
            json!({ "type": "message.part.updated", "properties": { "part": { "sessionID": "ses_1" } } }),
            json!({ "type": "session.updated", "properties": { "info": { "id": "ses_1" } } }),
        ] {
            assert_eq!(Careful.sessions_of(&event, &["ses_2"]), ["ses_1"], "{event}");
        }
        let message = json!({ "type": "message.updated", "properties": { "info": { "id": "msg_1" } } });
        let nobody: [&str; 0] = [];
        assert_eq!(Careful.sessions_of(&message, &["ses_1"]), nobody, "the id of a message is no session");
    }
}
