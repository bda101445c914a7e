//! A part of `termination`: is the end of a turn called what it was?

use super::Examined;
use super::termination::{Send, of_task, sends};
use crate::course::{Course, Sent, Started};
use crate::protocol::{Outcome, Update};

/// The turns of which it is clear which prompt they answer and how they ended: the prompt, how, and what was told.
fn ends<'a>(
    course: &'a Course<'_>,
    task: &'a Started,
) -> impl Iterator<Item = (Send, Outcome, (usize, Outcome))> + 'a {
    let all: Vec<Send> = sends(course, task).collect();
    let starts: Vec<(usize, u64)> = all.iter().map(|send| (send.line, send.at_us)).collect();
    all.into_iter().enumerate().filter_map(move |(at, send)| {
        let (line, until_us) = starts.get(at + 1).copied().unwrap_or((usize::MAX, u64::MAX));
        let mut told = of_task(course, task).filter_map(|(said, update)| match update {
            Update::Terminal { outcome, .. } if (send.line..line).contains(&said.line) => {
                Some((said.line, *outcome))
            }
            _ => None,
        });
        // Prompts that wait may share an end, and a turn may end twice.
        let only = told.next().filter(|_| told.next().is_none())?;
        let ended = ended(course, task, send.at_us, until_us)?;
        Some((send, ended, only))
    })
}

/// How the turn between these times ended, by the last message of it that the server has told of.
fn ended(course: &Course<'_>, task: &Started, from_us: u64, until_us: u64) -> Option<Outcome> {
    let of_turn =
        |sent: &&Sent| (from_us..until_us).contains(&sent.at_us) && sent.session() == Some(&task.session);
    let told = course.events.iter().filter(of_turn).filter(|sent| sent.kind() == "message.updated");
    let infos = told.map(|sent| &sent.event["properties"]["info"]).filter(|info| info["role"] == "assistant");
    // Ids ascend; of one message the last word counts.
    let last = infos.max_by_key(|info| info["id"].as_str().unwrap_or_default())?;
    match last["error"]["name"].as_str() {
        Some("MessageAbortedError") => Some(Outcome::Aborted),
        Some(_) => Some(Outcome::Error),
        None => last["time"]["completed"].is_number().then_some(Outcome::Completed),
    }
}

/// A turn that failed is told as one that failed, with words; one that was stopped as stopped; any other as completed.
pub(super) fn examine(course: &Course<'_>, examined: &mut Examined) {
    for task in course.tasks.iter().filter(|task| !course.closed.contains_key(&task.task)) {
        for (send, ended, (line, told)) in ends(course, task) {
            examined.fact(told == ended, || {
                let (ended, told) = (word(ended), word(told));
                format!("the turn of {:?} {ended}, and {} tells that it {told}", send.text, task.task)
            });
            if ended == Outcome::Error {
                let is_own = |update: &Update| update.task_id().is_none_or(|of| of == task.task);
                let says = course.shown().any(|(said, update)| {
                    let has_words = matches!(update, Update::Error { message, .. } if are_words(message));
                    said.line > send.line && is_own(update) && has_words && said.line < line + AROUND
                });
                examined.fact(says, || {
                    format!("the turn of {:?} failed, and nobody is told in words", send.text)
                });
            }
        }
    }
}

/// What a language makes by itself of a thing that is no text says nothing to anybody.
fn are_words(message: &str) -> bool {
    let message = message.trim();
    !message.is_empty()
        && !message.contains("[object Object]")
        && !["undefined", "null", "None", "{}"].contains(&message)
}

/// The words stand near the end, before or behind it.
const AROUND: usize = 200;

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Aborted => "was stopped",
        Outcome::Error => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_in_words() {
        assert!(["The model is busy.", "error 503"].into_iter().all(are_words));
        assert!(
            !["", " ", "[object Object]", "Error: [object Object]", "undefined"].into_iter().any(are_words)
        );
    }
}
