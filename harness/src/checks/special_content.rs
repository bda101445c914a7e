//! Has each call a row of its own, whoever's tool it is and however it ended; and is a part of a kind that nobody knows
//! shown as that, and never as itself?

use super::convergence::is_reverted;
use super::{Check, Examined};
use crate::course::{Course, Started};
use crate::history;
use crate::protocol::{Capability, ItemKind, Update};
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "special-content",
    about: "Each call has a row of its own, also one of a tool server's tool and one that failed; a part of a kind that no \
            server documents has a row that says no more than that.",
    needs: &[Capability::UnknownParts],
    has_occasion: |course| unknown(course).next().is_some() || !calls(course).is_empty(),
    examine,
};

/// The kinds of parts that the servers' documents know.
const KNOWN: [&str; 12] = [
    "agent",
    "compaction",
    "file",
    "patch",
    "reasoning",
    "retry",
    "snapshot",
    "step-finish",
    "step-start",
    "subtask",
    "text",
    "tool",
];

/// The parts of unknown kinds that the adapter was told of, each with its task.
fn unknown<'a>(course: &'a Course<'_>) -> impl Iterator<Item = (&'a Started, &'a Value)> {
    let told = course.streams().flat_map(|stream| &stream.events);
    told.filter(|sent| sent.kind() == "message.part.updated").filter_map(|sent| {
        let part = &sent.event["properties"]["part"];
        let task = course.tasks.iter().find(|task| sent.session() == Some(&task.session))?;
        part["type"].as_str().filter(|kind| !KNOWN.contains(kind)).map(|_| (task, part))
    })
}

/// The calls that have ended and stand in the tasks' own sessions in the end, as the server says.
fn calls(course: &Course<'_>) -> Vec<(String, Value)> {
    let sessions = history::last_read(course.lines, "/session").unwrap_or_default();
    let mut calls = Vec::new();
    for Started { task, session, .. } in
        course.tasks.iter().filter(|of| !course.closed.contains_key(&of.task))
    {
        let messages =
            history::last_read(course.lines, &format!("/session/{session}/message")).unwrap_or_default();
        let info = sessions.as_array().into_iter().flatten().find(|known| known["id"] == session.as_str());
        let messages = messages.as_array().into_iter().flatten();
        for part in messages.flat_map(|message| message["parts"].as_array().into_iter().flatten()) {
            let [id, of] = ["id", "messageID"].map(|field| part[field].as_str().unwrap_or_default());
            let is_over = matches!(part["state"]["status"].as_str(), Some("completed" | "error"));
            if part["type"] == "tool" && is_over && !is_reverted(info, of, id) {
                calls.push((task.clone(), part.clone()));
            }
        }
    }
    calls
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let screen = history::screen(course.lines);
    for (task, part) in calls(course) {
        let rows = screen.tasks.get(&task).map(|view| &view.items).into_iter().flatten();
        let (mut rows, name) = (rows, part["tool"].as_str().unwrap_or_default());
        let has_row = rows.any(|row| {
            part["id"] == row.part_id.as_str()
                && row.kind == ItemKind::Tool
                && row.tool.as_deref() == Some(name)
        });
        examined.fact(has_row, || format!("the agent called {name}, and no row in {task} says so"));
    }
    for (task, part) in unknown(course) {
        let Some(id) = part["id"].as_str() else { continue };
        let kind = part["type"].as_str().unwrap_or_default();
        let mut as_unknown = false;
        let mut as_itself = false;
        for (_, update) in course.shown().filter(|(_, update)| update.task_id() == Some(&task.task)) {
            match update {
                Update::UnknownPart { part_id, .. } => as_unknown |= part_id == id,
                Update::AssistantDelta { part_id, .. } | Update::ReasoningDelta { part_id, .. } => {
                    as_itself |= part_id == id;
                }
                Update::ToolState { tool_id, .. } => as_itself |= tool_id == id,
                Update::Timeline { view, .. } => {
                    for row in view.items.iter().filter(|row| row.part_id == id) {
                        as_unknown |= row.kind == ItemKind::Unknown;
                        as_itself |=
                            row.kind != ItemKind::Unknown || row.text.is_some() || row.output.is_some();
                    }
                }
                _ => {}
            }
        }
        examined.fact(as_unknown, || {
            format!("{id} is of the kind {kind:?}, and nothing on the screen says that it is there")
        });
        examined.fact(!as_itself, || {
            format!("{id} is of the kind {kind:?}, which nobody knows, and is shown as if it were known")
        });
    }
    examined
}
