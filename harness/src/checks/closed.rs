//! Is nothing shown any more of a task that is over for good, while its session goes on?

use super::{Check, Examined};
use crate::course::Course;
use crate::protocol::{Capability, Update};

pub(super) const CHECK: Check = Check {
    name: "closed",
    about: "Of a task that the person is done with nothing is shown, counted or logged any more, and the other tasks go on.",
    needs: &[Capability::Close],
    has_occasion: |course| course.closed.iter().any(|(task, line)| speaks(course, task, *line)),
    examine,
};

/// Has its session something to say after that?
fn speaks(course: &Course<'_>, task: &str, line: usize) -> bool {
    let started = course.tasks.iter().find(|started| started.task == task);
    started.is_some_and(|started| {
        course.events.iter().any(|sent| sent.line > line && sent.session() == Some(&started.session))
    })
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for (task, line) in &course.closed {
        let later = course.shown().find(|(said, update)| said.line > *line && update.task_id() == Some(task));
        examined.fact(later.is_none(), || {
            let what = later.map(|(_, update)| crate::report::timeline::seen(update)).unwrap_or_default();
            format!("{task} is over for good, and goes on: {what}")
        });
    }
    for other in course.tasks.iter().filter(|other| !course.closed.contains_key(&other.task)) {
        let Some(first) = course.closed.values().min() else { continue };
        let told = course.events.iter().any(|sent| {
            sent.line > *first && sent.session() == Some(&other.session) && sent.kind() == "session.idle"
        });
        if told {
            let ends = |update: &Update| matches!(update, Update::Terminal { task_id, .. } if *task_id == other.task);
            let ended = course.shown().any(|(said, update)| said.line > *first && ends(update));
            examined.fact(ended, || {
                format!("{} came to an end after another task was closed, and nobody was told", other.task)
            });
        }
    }
    examined
}
