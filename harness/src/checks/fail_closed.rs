//! Is an event that nobody understands an error where it could be dangerous, and only there?
//!
//! Dangerous is the middle of tools and permissions: a tool runs, or the person is being asked. What the adapter knows
//! of that is what it was sent before.

use super::given::given;
use super::questions::{answer_sent, is_set, owner_of};
use super::retry::has_failed;
use super::{Check, Examined, unknown};
use crate::course::{Course, Started};
use crate::protocol::{Capability, Request, Update};
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    name: "fail-closed",
    about: "An unknown event in the middle of a task's tools or permissions ends in an error with Retry for that task \
            alone, which stops until it is loaded anew; elsewhere it is none.",
    needs: &[Capability::FailClosed],
    has_occasion: |course| unknown::sent(course).any(|sent| sent.session().is_some()),
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for sent in unknown::sent(course) {
        let Some(task) = sent.session().and_then(|session| course.task_of(session)) else { continue };
        let delicate = is_delicate(course, &task.session, sent.line);
        let told =
            course.shown().any(|(said, update)| said.line > sent.line && is_closed(update, &task.task));
        if delicate {
            nothing_follows(course, task, sent.line, &mut examined);
        }
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
    others(course, &mut examined);
    examined
}

/// Once a task says that it can't go on, it does not, until the person or a new stream loads it anew.
fn nothing_follows(course: &Course<'_>, task: &Started, from: usize, examined: &mut Examined) {
    let errors = course.shown().filter(|(said, update)| said.line > from && is_closed(update, &task.task));
    let Some(error) = errors.map(|(said, _)| said.line).next() else { return };
    let pressed = course.asked().filter_map(|(said, _, request)| {
        matches!(request, Request::TaskRetry(of) if of.task_id == task.task).then_some(said.line)
    });
    let opened = course.streams().map(|stream| stream.line);
    let anew = course.shown().filter_map(|(said, update)| {
        matches!(update, Update::Timeline { task_id, .. } if *task_id == task.task).then_some(said.line)
    });
    let ends = pressed.chain(opened).chain(anew);
    let until = ends.filter(|line| *line > error).min().unwrap_or(usize::MAX);
    let goes_on = course.shown().find(|(said, update)| {
        let speaks = matches!(
            update,
            Update::AssistantDelta { .. }
                | Update::ReasoningDelta { .. }
                | Update::ToolState { .. }
                | Update::PermissionRequest { .. }
                | Update::Question { .. }
        );
        speaks && update.task_id() == Some(&task.task) && (error..until).contains(&said.line)
    });
    examined.fact(goes_on.is_none(), || {
        format!("{} said that it can't go on, and goes on before anybody has pressed Retry", task.task)
    });
    let given = given(course);
    for post in course.exchanges.iter().filter(|post| (error..until).contains(&post.line)) {
        let Some(id) = answer_sent(post).filter(|_| !is_set(course, post)) else { continue };
        let is_own = owner_of(course, id).and_then(|session| course.task_of(&session).cloned());
        let is_persons = given.iter().any(|given| given.id == id && given.line < post.line);
        examined.fact(is_persons || is_own.is_none_or(|own| own.task != task.task), || {
            format!("{} said that it can't go on, and answers {id} in the person's place", task.task)
        });
    }
}

/// Tasks that no such event is about end in no error, unless something of theirs failed.
fn others(course: &Course<'_>, examined: &mut Examined) {
    let fails = course.exchanges.iter().any(has_failed);
    let about = unknown::sent(course).filter_map(|sent| course.task_of(sent.session()?));
    let concerned: Vec<&str> = about.map(|task| task.task.as_str()).collect();
    let others = course.tasks.iter().filter(|task| !concerned.contains(&task.task.as_str()));
    for task in others.filter(|_| !fails && !concerned.is_empty()) {
        let told = course.shown().any(|(_, update)| is_closed(update, &task.task));
        examined.fact(!told, || {
            format!("no event that nobody understands was about {}, and it ended in an error", task.task)
        });
    }
}

/// Does this say that the task can't go on?
pub(super) fn is_closed(update: &Update, task: &str) -> bool {
    matches!(update, Update::Error { task_id: Some(of), retry: true, .. } if of == task)
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
