//! Is an event that nobody understands an error where it could be dangerous, and only there?
//!
//! Dangerous is the middle of tools and permissions: a tool runs, or the person is being asked. What the adapter knows
//! of that is what it was sent before.

use super::{Check, Examined, unknown};
use crate::course::Course;
use crate::protocol::{Capability, Update};
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    name: "fail-closed",
    about: "An unknown event in the middle of a task's tools or permissions ends in an error with Retry for that task; \
            elsewhere it is none.",
    needs: &[Capability::FailClosed],
    has_occasion: |course| unknown::sent(course).any(|sent| sent.session().is_some()),
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for sent in unknown::sent(course) {
        let Some(task) = sent.session().and_then(|session| course.task_of(session)) else { continue };
        let delicate = is_delicate(course, &task.session, sent.line);
        let told = course.shown().any(|(said, update)| {
            let is_error =
                matches!(update, Update::Error { task_id: Some(of), retry: true, .. } if *of == task.task);
            said.line > sent.line && is_error
        });
        examined.fact(told == delicate, || {
            let kind = sent.kind();
            if delicate {
                format!(
                    "{kind} came in the middle of {}'s tools or permissions, and the task went on",
                    task.task
                )
            } else {
                format!("{kind} came while {} only spoke, and the task ended in an error", task.task)
            }
        });
    }
    examined
}

/// Does a tool of the session run, or does it ask for leave, as far as the adapter was told?
fn is_delicate(course: &Course<'_>, session: &str, until: usize) -> bool {
    let mut open = BTreeSet::new();
    let events = course.streams().flat_map(|stream| &stream.events).filter(|sent| sent.line < until);
    for sent in events
        .filter(|sent| sent.session().is_some_and(|of| course.family_of(of).iter().any(|of| of == session)))
    {
        let properties = &sent.event["properties"];
        let part = &properties["part"];
        match (sent.kind(), part["state"]["status"].as_str()) {
            ("message.part.updated", Some("pending" | "running")) => open.insert(part["id"].to_string()),
            ("message.part.updated", Some(_)) => open.remove(&part["id"].to_string()),
            ("permission.asked" | "question.asked", _) => open.insert(properties["id"].to_string()),
            ("permission.replied" | "question.replied" | "question.rejected", _) => {
                open.remove(&properties["requestID"].to_string())
            }
            _ => false,
        };
    }
    !open.is_empty()
}
