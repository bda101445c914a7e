//! Does the row of a command say what the server knows of it, and call unknown what nobody knows?

use super::{Check, Examined};
use crate::course::{Course, Sent};
use crate::history;
use crate::protocol::{Capability, Process, ToolState, Update};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) const CHECK: Check = Check {
    name: "commands",
    about: "The row of a command shows what it prints while it runs, ends with the status that the server tells, and says \
            that the number of its process is unknown.",
    needs: &[Capability::CommandRows],
    has_occasion: |course| !commands(course).is_empty(),
    examine,
};

/// A command that prints this long before it ends has printed something that a person could have seen.
const SEEN_US: u64 = 250_000;

/// The commands of the tasks' own sessions: part → what was told of it.
fn commands<'a>(course: &'a Course<'_>) -> BTreeMap<&'a str, Vec<&'a Sent>> {
    let mut told: BTreeMap<&str, Vec<&Sent>> = BTreeMap::new();
    for sent in course.events.iter().filter(|sent| sent.kind() == "message.part.updated") {
        let part = &sent.event["properties"]["part"];
        let is_ours = course.tasks.iter().any(|task| sent.session() == Some(&task.session));
        if let Some(id) = part["id"].as_str().filter(|_| part["tool"] == "bash" && is_ours) {
            told.entry(id).or_default().push(sent);
        }
    }
    told
}

fn state(sent: &Sent) -> &Value {
    &sent.event["properties"]["part"]["state"]
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let screen = history::screen(course.lines);
    for (id, told) in commands(course) {
        let rows = screen.tasks.values().flat_map(|view| &view.items);
        // A row that is missing is for `convergence`.
        let Some(row) = rows.into_iter().find(|row| row.part_id == id) else { continue };
        examined.fact(row.process == Some(Process::Unknown), || match row.process {
            Some(Process::Number(number)) => {
                format!(
                    "the row of {id} says that its process has the number {number}, and no server tells it"
                )
            }
            _ => format!(
                "the row of {id} leaves the number of its process empty, and does not say that it is unknown"
            ),
        });
        let end =
            told.iter().find(|sent| matches!(state(sent)["status"].as_str(), Some("completed" | "error")));
        let Some(end) = end else { continue };
        let exit = state(end)["metadata"]["exit"].as_i64();
        examined.fact(row.exit == exit, || {
            let word =
                |exit: Option<i64>| exit.map_or("no status".to_owned(), |exit| format!("status {exit}"));
            format!("the server says that {id} ended with {}, the row says {}", word(exit), word(row.exit))
        });
        let prints = |sent: &&&Sent| {
            let printed = state(sent)["metadata"]["output"].as_str().unwrap_or_default();
            state(sent)["status"] == "running" && !printed.is_empty() && sent.at_us + SEEN_US < end.at_us
        };
        if told.iter().any(|sent| prints(&sent)) {
            let grows = course.shown().any(|(_, update)| shows_printing(update, id));
            examined.fact(grows, || {
                format!("{id} printed while it ran, and its row showed nothing of that before its end")
            });
        }
    }
    examined
}

fn shows_printing(update: &Update, id: &str) -> bool {
    let is_printing = |state: Option<ToolState>, output: Option<&String>| {
        state == Some(ToolState::Running) && output.is_some_and(|output| !output.is_empty())
    };
    match update {
        Update::ToolState { tool_id, state, output, .. } => {
            tool_id == id && is_printing(Some(*state), output.as_ref())
        }
        Update::Timeline { view, .. } => {
            view.items.iter().any(|row| row.part_id == id && is_printing(row.state, row.output.as_ref()))
        }
        _ => false,
    }
}
