//! Decision 7: is a reconnect a boundary?
//!
//! From the first event of a stream that was opened again until the task is shown anew, nothing of it may be
//! published; and it is shown anew only after it was read anew, over this connection's time.

use super::{Check, Examined};
use crate::course::{Course, Exchange, Said, Started, What};
use crate::protocol::{Capability, ConnectionState, Update};

pub(super) const CHECK: Check = Check {
    name: "refresh",
    about: "After a reconnect nothing of a task is published before all of it was read and shown anew.",
    needs: &[Capability::Reconnect],
    has_occasion: |course| windows(course).next().is_some(),
    examine,
};

/// The time after a reconnect in which a task has to be loaded again.
pub(super) struct Window<'a> {
    pub(super) task: &'a Started,
    /// The stream's first event.
    pub(super) from: usize,
    /// The stream's end, if it has one: then it is for the next window.
    pub(super) until: Option<usize>,
}

/// All of them.
pub(super) fn windows<'a>(course: &'a Course<'_>) -> impl Iterator<Item = Window<'a>> + 'a {
    let again = course.streams().enumerate().filter(|(at, stream)| {
        let is_same = |other: &Exchange| {
            other.path == stream.path && course.folder_of(other) == course.folder_of(stream)
        };
        course.streams().take(*at).any(|other| is_same(other) && !other.events.is_empty())
    });
    again.flat_map(move |(_, stream)| {
        let from = stream.events.first().map(|first| first.line);
        let is_global = stream.path.starts_with("/global");
        let tasks =
            course.tasks.iter().filter(move |task| is_global || task.folder == course.folder_of(stream));
        let until = stream.end.map(|(line, _)| line).filter(|line| *line < course.shutdown());
        from.into_iter().flat_map(move |from| {
            tasks.clone().filter(move |task| task.line < from).map(move |task| Window { task, from, until })
        })
    })
}

/// Where an adapter tells that it has lost the stream, when that is written down behind the new one's first event: on a
/// busy machine its words are read late. What it said before that, it said of the old stream.
fn noticed(course: &Course<'_>, from: usize, until: Option<usize>) -> Option<usize> {
    let states = course.shown().filter_map(|(said, update)| match update {
        Update::Connection { state } => Some((said.line, *state == ConnectionState::Connected)),
        _ => None,
    });
    let (before, within): (Vec<_>, Vec<_>) = states.partition(|(line, _)| *line < from);
    let had_it = before.last().is_none_or(|(_, is_connected)| *is_connected);
    let (line, is_connected) =
        within.into_iter().find(|(line, _)| until.is_none_or(|until| *line < until))?;
    (had_it && !is_connected).then_some(line)
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for Window { task, from, until } in windows(course) {
        let heard = noticed(course, from, until).unwrap_or(from);
        let within = |said: &&Said| said.line > heard && until.is_none_or(|until| said.line < until);
        let mut resolved = false;
        for said in course.said.iter().filter(within) {
            let What::Shows(update) = &said.what else { continue };
            if update.task_id().is_some_and(|of| of != task.task) {
                continue;
            }
            match update {
                Update::Timeline { .. } => {
                    let path = format!("/session/{}/message", task.session);
                    let is_read = |exchange: &&Exchange| {
                        let answer = exchange.answer.as_ref().filter(|_| exchange.is_good());
                        exchange.path == path
                            && answer.is_some_and(|answer| answer.line > from && answer.line < said.line)
                    };
                    examined.fact(course.exchanges.iter().any(|exchange| is_read(&exchange)), || {
                        format!("{} is shown anew after a reconnect, and was not read anew", task.task)
                    });
                    resolved = true;
                }
                // The person learns that it can't be loaded.
                Update::Error { retry: true, .. } => resolved = true,
                Update::Connection { .. }
                | Update::Server { .. }
                | Update::Warning { .. }
                | Update::Error { .. }
                | Update::Terminal { .. } => {}
                Update::PermissionResolved { .. } | Update::QuestionResolved { .. } => {}
                other => examined.fact(false, || {
                    let what = crate::report::timeline::seen(other);
                    format!("{} shows {what} after a reconnect, before it was loaded again", task.task)
                }),
            }
            if resolved {
                break;
            }
        }
        // A stream that ended soon leaves it to the next one.
        examined.fact(resolved || until.is_some(), || {
            format!("{} was never loaded again after a reconnect", task.task)
        });
    }
    examined
}
