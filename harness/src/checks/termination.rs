//! Does each turn end: once, not before it is over, and for good?

use super::sends::prompts;
use super::{Check, Examined, outcome};
use crate::course::{Course, Said, Sent, Started};
use crate::history;
use crate::protocol::{ConnectionState, Outcome, Request, TaskEdit, TaskSend, Update};
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    name: "termination",
    about: "Each prompt comes to one end, which the server's turn has come to as well and which is called what it was; nothing is \
            said after it.",
    needs: &[],
    has_occasion: |course| course.tasks.iter().any(|task| sends(course, task).any(|send| !send.refused)),
    examine,
};

/// A terminal may be seen before the harness's own eyes see the end of the turn; not by more than this.
const TOLERANCE_US: u64 = 100_000;

/// A prompt: where it was sent, when, and whether the person has learnt that it failed.
pub(super) struct Send {
    pub(super) line: usize,
    pub(super) at_us: u64,
    pub(super) text: String,
    pub(super) refused: bool,
}

/// The prompts of a task.
pub(super) fn sends<'a>(course: &'a Course<'_>, task: &'a Started) -> impl Iterator<Item = Send> + 'a {
    course.asked().filter_map(move |(said, id, request)| match request {
        Request::TaskSend(TaskSend { task_id, text, .. })
        | Request::TaskEdit(TaskEdit { task_id, text, .. })
            if *task_id == task.task =>
        {
            let refused = course.answer_to(id).is_none_or(|(_, outcome)| outcome.is_err());
            Some(Send { line: said.line, at_us: said.at_us, text: text.clone(), refused })
        }
        _ => None,
    })
}

/// What was shown of a task.
pub(super) fn of_task<'a>(
    course: &'a Course<'_>,
    task: &'a Started,
) -> impl Iterator<Item = (&'a Said, &'a Update)> {
    course.shown().filter(move |(_, update)| update.task_id() == Some(&task.task))
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for task in &course.tasks {
        let sends: Vec<Send> = sends(course, task).collect();
        let ends: Vec<&Said> = of_task(course, task)
            .filter(|(_, u)| matches!(u, Update::Terminal { .. }))
            .map(|(said, _)| said)
            .collect();
        // Who has let go of a task wants to know no end of it.
        let is_open = !course.closed.contains_key(&task.task);
        for send in sends.iter().filter(|send| !send.refused && is_open) {
            let told = |said: &Said, update: &Update| match update {
                Update::Error { .. } => !is_mended(course, task, send, said),
                // The end of the prompt before may be shown late, and is not the end of this one.
                Update::Terminal { outcome: Outcome::Completed, .. } => {
                    may_know(course, task, send.at_us, said.at_us)
                }
                Update::Terminal { .. } => true,
                _ => false,
            };
            let is_own = |update: &Update| update.task_id().is_none_or(|of| of == task.task);
            let ended = course
                .shown()
                .any(|(said, update)| said.line > send.line && is_own(update) && told(said, update));
            examined
                .fact(ended, || format!("{} never learns the end of its prompt {:?}", task.task, send.text));
        }
        let mut open: Vec<&Send> = Vec::new();
        let mut before = 0;
        for (at, end) in ends.iter().enumerate() {
            open.extend(sends.iter().filter(|send| send.line > before && send.line < end.line));
            let own = if open.is_empty() { None } else { Some(open.remove(0)) };
            examined.fact(own.is_some(), || format!("{} tells an end, and no prompt is open", task.task));
            if let Some(own) = own {
                examined.fact(is_over(course, task, own.at_us, end.at_us), || {
                    format!("{} tells the end of {:?} while the server is at work on it", task.task, own.text)
                });
            }
            let next = sends.iter().map(|send| send.line).find(|line| *line > end.line).unwrap_or(usize::MAX);
            let another = ends.get(at + 1).is_some_and(|another| another.line < next);
            // Of a prompt that waits the server's turn may come to its end later, seen or in a gap.
            let goes_on = course.events.iter().any(|sent| {
                is_end(sent, task) && sent.at_us > end.at_us && sent.line > end.line && sent.line < next
            });
            if open.is_empty() || !(another || goes_on) {
                // Prompts that were sent while others were answered may share their end.
                open.clear();
                silence(course, task, end.line, next, &mut examined);
            }
            before = end.line;
        }
    }
    outcome::examine(course, &mut examined);
    examined
}

/// Was an error no end of this prompt: the server took it, the turn came to its end without a mistake, and the screen went on
/// after the error? Who then says nothing more leaves the person waiting.
fn is_mended(course: &Course<'_>, task: &Started, send: &Send, error: &Said) -> bool {
    let messages = history::last_read(course.lines, &format!("/session/{}/message", task.session));
    let is_taken = messages.is_some_and(|messages| prompts(&messages).any(|prompt| prompt == send.text));
    let told = |kind: &str| {
        let mut own = course.events.iter().filter(|sent| sent.session() == Some(&task.session));
        own.any(|sent| sent.kind() == kind && sent.at_us >= send.at_us)
    };
    let goes_on = |update: &Update| match update {
        Update::Connection { state } => *state == ConnectionState::Connected,
        Update::Timeline { task_id, .. } => *task_id == task.task,
        _ => false,
    };
    let went_on = course.shown().any(|(said, update)| said.line > error.line && goes_on(update));
    is_taken && told("session.idle") && !told("session.error") && went_on
}

/// Does the server end a turn of the task here?
fn is_end(sent: &Sent, task: &Started) -> bool {
    matches!(sent.kind(), "session.idle" | "session.error") && sent.session() == Some(&task.session)
}

/// Has the server said anything to the adapter in this time by which it may know that a turn of the task is over: on its
/// own streams, or as an answer?
pub(super) fn may_know(course: &Course<'_>, task: &Started, from_us: u64, until_us: u64) -> bool {
    let then = |at_us: u64| (from_us..=until_us).contains(&at_us);
    let mut told = course.streams().flat_map(|stream| &stream.events);
    told.any(|sent| {
        let facts = &sent.event["properties"];
        let says_so = is_end(sent, task)
            || facts["status"]["type"] == "idle"
            || facts["info"]["time"]["completed"].is_number();
        then(sent.at_us) && says_so && sent.session() == Some(&task.session)
    }) || course.exchanges.iter().any(|exchange| {
        let answer = exchange.answer.as_ref().filter(|_| !exchange.is_stream() && exchange.is_good());
        answer.is_some_and(|answer| then(answer.at_us) && !answer.body.is_null())
    })
}

/// Had the server's turn come to its end by then, or did the server say so when it was asked?
fn is_over(course: &Course<'_>, task: &Started, from_us: u64, until_us: u64) -> bool {
    let mut ends = course.events.iter().filter(|sent| is_end(sent, task) && sent.at_us >= from_us);
    let ends =
        ends.any(|sent| sent.at_us <= until_us + TOLERANCE_US || is_told(course, sent, from_us, until_us));
    let says_idle =
        course.exchanges.iter().filter(|exchange| exchange.path == "/session/status").any(|exchange| {
            let answer = exchange.answer.as_ref().filter(|answer| answer.status == 200);
            answer.is_some_and(|answer| {
                let state = &answer.body[&task.session]["type"];
                (from_us..=until_us).contains(&answer.at_us) && (state.is_null() || state == "idle")
            })
        });
    ends || says_idle
}

/// Had the adapter been told of this event by then? On a busy machine the harness's own eyes may see it much later.
fn is_told(course: &Course<'_>, sent: &Sent, from_us: u64, until_us: u64) -> bool {
    let id = &sent.event["id"];
    let by_then = |told: &Sent| (from_us..=until_us).contains(&told.at_us) && told.event["id"] == *id;
    id.is_string() && course.streams().flat_map(|stream| &stream.events).any(by_then)
}

/// Was it taken back meanwhile that the task has gone back? Then what it had said is said again.
fn is_taken_back(course: &Course<'_>, task: &Started, lines: std::ops::Range<usize>) -> bool {
    course.asked().any(|(said, _, request)| {
        lines.contains(&said.line) && matches!(request, Request::TaskUnrevert(of) if of.task_id == task.task)
    })
}

/// What is shown after an end is of messages that were known before it.
fn silence(course: &Course<'_>, task: &Started, from: usize, until: usize, examined: &mut Examined) {
    let mut known = BTreeSet::new();
    let stopped = course.exchanges.iter().any(|exchange| {
        exchange.line < until
            && exchange.path == format!("/session/{}/abort", task.session)
            && exchange.is_good()
    });
    // A turn that was stopped may have last words on their way.
    let completed = of_task(course, task).any(|(said, update)| match update {
        Update::Terminal { outcome: Outcome::Completed, .. } => said.line == from,
        Update::Terminal { .. } => said.line == from && !stopped,
        _ => false,
    });
    for (said, update) in of_task(course, task).filter(|(said, _)| said.line < until) {
        let messages: Vec<&String> = match update {
            Update::AssistantDelta { message_id, .. }
            | Update::ReasoningDelta { message_id, .. }
            | Update::ToolState { message_id, .. }
            | Update::UnknownPart { message_id, .. } => vec![message_id],
            Update::Timeline { view, .. } => view.items.iter().map(|item| &item.message_id).collect(),
            _ => continue,
        };
        let speaks = matches!(update, Update::AssistantDelta { delta, .. } if !delta.is_empty());
        if said.line > from && completed && !is_taken_back(course, task, from..said.line) {
            examined.fact(!speaks, || format!("{} speaks on after its end", task.task));
        }
        for message in messages {
            if said.line < from {
                known.insert(message);
            } else {
                examined.fact(known.contains(message), || {
                    format!("{} goes on with {message} after its end", task.task)
                });
            }
        }
    }
}
