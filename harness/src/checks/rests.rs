//! Is a task shown as resting only when its own session rests? Another session's rest is not its own, and who waits for a
//! provider that has no room is at work.

use super::Examined;
use super::termination::{may_know, of_task};
use crate::course::{Course, Exchange, Sent, Started};
use crate::protocol::{TaskState, Update};

/// A task that was told to be at work, by a stream that goes on, rests once it was told so, or might know it by an answer.
pub(super) fn examine(course: &Course<'_>, task: &Started, examined: &mut Examined) {
    let own = |stream: &&Exchange| stream.events.iter().any(|sent| sent.session() == Some(&task.session));
    let mut streams = course.streams().filter(own);
    // With several streams it is not known which of them told first.
    let (Some(stream), None) = (streams.next(), streams.next()) else { return };
    let rests = |update: &Update| matches!(update, Update::Status { state: TaskState::Idle, .. });
    for (said, _) in of_task(course, task).filter(|(_, update)| rests(update)) {
        let is_busy = |sent: &&Sent| {
            let status = &sent.event["properties"]["status"]["type"];
            sent.at_us <= said.at_us && sent.session() == Some(&task.session) && status == "busy"
        };
        let Some(busy) = stream.events.iter().rev().find(is_busy) else { continue };
        if stream.end.is_some_and(|(_, end_us)| end_us <= said.at_us) {
            continue;
        }
        examined.fact(may_know(course, task, busy.at_us, said.at_us), || {
            format!("{} is shown as resting, and its session was said to be at work", task.task)
        });
    }
}
