//! Is what is new counted and logged, and nothing more?

use super::{Check, Examined};
use crate::course::{Course, Sent, What};
use crate::protocol::{Capability, LogLevel, Update};
use fixtures::{ServerKind, catalog};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::OnceLock;

pub(super) const CHECK: Check = Check {
    name: "unknown",
    about: "Events of a type that no release has are counted and logged, each once; known ones are not.",
    needs: &[Capability::Telemetry, Capability::Logs],
    has_occasion: |course| course.streams().any(|stream| !stream.events.is_empty()),
    examine,
};

/// In neither the recordings nor the documents of the pinned releases.
pub(super) fn is_unknown(event: &Value) -> bool {
    static KNOWN: OnceLock<BTreeSet<String>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        ServerKind::ALL.iter().flat_map(|server| catalog::event_types(&server.release())).collect()
    });
    event["type"].as_str().is_some_and(|kind| !known.contains(kind))
}

/// Unknown events that the adapter was sent.
pub(super) fn sent<'a>(course: &'a Course<'_>) -> impl Iterator<Item = &'a Sent> {
    course.streams().flat_map(|stream| &stream.events).filter(|sent| is_unknown(&sent.event))
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    if course.streams().all(|stream| stream.events.is_empty()) {
        return examined;
    }
    let count = sent(course).count();
    let counted = course.said.iter().rev().find_map(|said| match &said.what {
        What::Signals(signal) if signal.name == "kilo.cli.adapter.unknown_event_type" => Some(signal.value),
        _ => None,
    });
    let counted = counted.unwrap_or(0);
    examined.fact(usize::try_from(counted) == Ok(count), || {
        format!("{count} events of unknown types came, and {counted} were counted")
    });
    let kinds: BTreeSet<&str> = sent(course).map(Sent::kind).collect();
    for kind in kinds {
        let came = sent(course).filter(|sent| sent.kind() == kind).count();
        let logged = course.said.iter().filter(|said| match &said.what {
            What::Logs(line) => line.level == LogLevel::Debug && line.text.contains(kind),
            _ => false,
        });
        let logged = logged.count();
        examined.fact(logged == came, || {
            format!("{kind} came {came} times, and was logged {logged} times at debug")
        });
        // Of an event that is about a task's session the line says so.
        let owners: BTreeSet<&str> =
            sent(course).filter(|sent| sent.kind() == kind).filter_map(Sent::session).collect();
        for task in course.tasks.iter().filter(|task| owners.contains(task.session.as_str())) {
            let named = course.said.iter().any(|said| match &said.what {
                What::Logs(line) => {
                    line.text.contains(kind)
                        && line.task_id.as_ref() == Some(&task.task)
                        && line.session_id.as_ref() == Some(&task.session)
                }
                _ => false,
            });
            examined.fact(named, || format!("no line about {kind} names {} and its session", task.task));
        }
        let shown = course.shown().any(|(_, update)| match update {
            Update::AssistantDelta { delta, .. } | Update::ReasoningDelta { delta, .. } => {
                delta.contains(kind)
            }
            _ => false,
        });
        examined.fact(!shown, || format!("the person is shown {kind}, which nobody understands"));
    }
    examined
}
