//! Is a turn that the person stopped stopped: asked of the server, ended once, never revived?

use super::termination::of_task;
use super::{Check, Examined};
use crate::course::{Course, Exchange, Started};
use crate::history;
use crate::protocol::{Capability, Request, TaskState, Update};
use serde_json::Value;
use std::ops::Range;

pub(super) const CHECK: Check = Check {
    name: "abort",
    about: "An abort reaches the server, and the person learns when it is refused; after its end the task does not work, end \
            or speak again, whatever comes.",
    needs: &[Capability::Abort],
    has_occasion: |course| aborts(course).next().is_some(),
    examine,
};

fn aborts<'a>(course: &'a Course<'_>) -> impl Iterator<Item = (usize, &'a Started)> + 'a {
    course.asked().filter_map(|(said, _, request)| match request {
        Request::TaskAbort(task) => course
            .tasks
            .iter()
            .find(|started| started.task == task.task_id)
            .map(|started| (said.line, started)),
        _ => None,
    })
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for (line, task) in aborts(course) {
        let next = course.asked().find_map(|(said, _, request)| match request {
            Request::TaskSend(send) if send.task_id == task.task && said.line > line => Some(said.line),
            _ => None,
        });
        let until = next.unwrap_or(usize::MAX);
        let path = format!("/session/{}/abort", task.session);
        let asked: Vec<&Exchange> = course
            .exchanges
            .iter()
            .filter(|exchange| exchange.line > line && exchange.path == path)
            .collect();
        examined.fact(!asked.is_empty(), || {
            format!("{} was stopped, and the server was not asked to stop", task.task)
        });
        let is_refused = |asked: &&Exchange| asked.answer.is_some() && !asked.is_good();
        if !asked.is_empty() && asked.iter().all(is_refused) {
            let told = is_told(course, line..until, task);
            examined.fact(told, || format!("the server refuses to stop {}, and nobody is told", task.task));
        }
        let messages = history::last_read(course.lines, &format!("/session/{}/message", task.session));
        let mut over = false;
        for (_, update) in of_task(course, task).filter(|(said, _)| said.line > line && said.line < until) {
            match update {
                Update::Terminal { .. } => {
                    examined.fact(!over, || format!("{} ends twice after it was stopped", task.task));
                    over = true;
                }
                Update::Status { state: TaskState::Busy | TaskState::Retry, .. } if over => {
                    examined.fact(false, || format!("{} is at work again after it was stopped", task.task));
                }
                Update::AssistantDelta { part_id, delta, .. } if over && !delta.is_empty() => {
                    let has = messages.as_ref().is_some_and(|messages| has_part(messages, part_id));
                    examined.fact(has, || format!("{} speaks on after it was stopped: {delta:?}", task.task));
                }
                _ => {}
            }
        }
        let prompts = course.exchanges.iter().filter(|exchange| {
            let is_prompt = exchange.path.ends_with("/prompt_async") || exchange.path.ends_with("/message");
            exchange.method == "POST" && is_prompt && exchange.line > line && exchange.line < until
        });
        let revived = prompts.filter(|exchange| exchange.path.contains(&task.session)).count();
        examined.fact(revived == 0, || format!("{} was stopped, and its prompt was sent again", task.task));
    }
    examined
}

/// Does the person learn that it was for nothing: by the answer, or by an error?
fn is_told(course: &Course<'_>, within: Range<usize>, task: &Started) -> bool {
    let mut asked = course.asked().filter(|(said, ..)| said.line == within.start);
    let is_answered =
        asked.any(|(_, id, _)| course.answer_to(id).is_some_and(|(_, outcome)| outcome.is_err()));
    let mut shown = of_task(course, task).filter(|(said, _)| within.contains(&said.line));
    is_answered || shown.any(|(_, update)| matches!(update, Update::Error { .. }))
}

fn has_part(messages: &Value, part: &str) -> bool {
    let messages = messages.as_array().into_iter().flatten();
    messages
        .flat_map(|message| message["parts"].as_array().into_iter().flatten())
        .any(|known| known["id"] == part)
}
