//! The answers that the person gives, one by one or to all that is asked at once. No check of its own.

use super::answer_all::all_at_once;
use super::questions::owner_of;
use crate::course::Course;
use crate::protocol::{Reply, Request};
use serde_json::{Value, json};

/// An answer of the person.
pub(super) struct Given {
    /// Where in the history.
    pub(super) line: usize,
    /// When.
    pub(super) at_us: u64,
    /// To what.
    pub(super) id: String,
    /// How.
    pub(super) answer: Value,
}

/// All of them, in order.
pub(super) fn given(course: &Course<'_>) -> Vec<Given> {
    let one_by_one = course.asked().filter_map(|(said, _, request)| {
        let (id, answer) = answer_in(request)?;
        Some(Given { line: said.line, at_us: said.at_us, id: id.to_owned(), answer })
    });
    let at_once = all_at_once(course).into_iter().flat_map(|all| {
        let (line, at_us, answer) = (all.line, all.at_us, json!(all.asked.reply));
        all.open.into_iter().map(move |id| Given { line, at_us, id, answer: answer.clone() })
    });
    let mut given: Vec<Given> = one_by_one.chain(at_once).collect();
    given.sort_by_key(|given| given.line);
    given
}

/// When the person answered this.
pub(super) fn times(course: &Course<'_>, id: &str) -> Vec<u64> {
    given(course).into_iter().filter(|given| given.id == id).map(|given| given.at_us).collect()
}

/// When the person stopped the agent of the task that asks this, and whether the adapter says that it was done.
pub(super) fn stops(course: &Course<'_>, id: &str) -> Vec<(u64, bool)> {
    let Some(task) = owner_of(course, id).and_then(|session| course.task_of(&session)) else {
        return Vec::new();
    };
    let stops = course.asked().filter_map(|(said, asked, request)| match request {
        Request::TaskAbort(stopped) if stopped.task_id == task.task => {
            Some((said.at_us, course.answer_to(asked).is_some_and(|(_, outcome)| outcome.is_ok())))
        }
        _ => None,
    });
    stops.collect()
}

/// What a request answers, and how.
fn answer_in(request: &Request) -> Option<(&str, Value)> {
    match request {
        Request::PermissionReply(reply) => {
            let word = match reply.reply {
                Reply::Once => "once",
                Reply::Always => "always",
                Reply::Reject => "reject",
            };
            Some((&reply.permission_id, json!(word)))
        }
        Request::QuestionReply(reply) => Some((&reply.question_id, json!(reply.answers))),
        Request::QuestionReject(question) => Some((&question.question_id, json!("reject"))),
        _ => None,
    }
}
