//! Is a task shown as resting only when its own session rests? Another session's rest is not its own, and who waits for a
//! provider that has no room is at work.

use super::Examined;
use super::termination::{may_know, of_task};
use crate::course::{Course, Exchange, Said, Sent, Started};
use crate::protocol::{TaskState, Update};

/// A task that was told to be at work, by a stream that goes on, rests once it was told so, or might know it by an answer.
pub(super) fn examine(course: &Course<'_>, task: &Started, examined: &mut Examined) {
    let own = |stream: &&Exchange| stream.events.iter().any(|sent| sent.session() == Some(&task.session));
    let mut streams = course.streams().filter(own);
    // With several streams it is not known which of them told first.
    let (Some(stream), None) = (streams.next(), streams.next()) else { return };
    let mut before_us = None;
    for said in rests(course, task) {
        // A rest may be shown late, when the next turn has begun: it is held against the work since the one before.
        let is_busy = |sent: &&Sent| {
            before_us.is_none_or(|before_us| sent.at_us > before_us)
                && sent.session() == Some(&task.session)
                && sent.event["properties"]["status"]["type"] == "busy"
        };
        let busy = stream.events.iter().find(is_busy).filter(|busy| busy.at_us <= said.at_us);
        before_us = Some(said.at_us);
        let is_cut = stream.end.is_some_and(|(_, end_us)| end_us <= said.at_us);
        let Some(busy) = busy.filter(|_| !is_cut) else { continue };
        examined.fact(may_know(course, task, busy.at_us, said.at_us), || {
            format!("{} is shown as resting, and its session was said to be at work", task.task)
        });
    }
}

/// Where the screen comes to say that the task rests. Who says so twice, as the servers do, says nothing new, and perhaps late.
fn rests<'a>(course: &'a Course<'_>, task: &'a Started) -> impl Iterator<Item = &'a Said> + 'a {
    let mut is_resting = false;
    of_task(course, task).filter_map(move |(said, update)| {
        let rests_now = match update {
            Update::Status { state, .. } => *state == TaskState::Idle,
            Update::Timeline { view, .. } => {
                is_resting = view.status == TaskState::Idle;
                return None;
            }
            _ => return None,
        };
        let comes_to_rest = rests_now && !is_resting;
        is_resting = rests_now;
        comes_to_rest.then_some(said)
    })
}
