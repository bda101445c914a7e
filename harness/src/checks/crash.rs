//! When the server ends by itself: is everybody told, is it started again, and is that ever given up?

use super::cutover::is_off;
use super::{Check, Examined};
use crate::course::Course;
use crate::protocol::{Capability, Request, ServerState, Update};
use crate::witness::{Witnessed, witnessed};
use std::ops::Range;

pub(super) const CHECK: Check = Check {
    name: "crash",
    about: "After a crash every task is told, the server is started again under another password, and after more than \
            three crashes in ten minutes not any more, and takes no new task.",
    needs: &[Capability::Spawn],
    has_occasion: |course| !crashes(course).is_empty(),
    examine,
};

/// So many crashes are borne in so many seconds, unscaled.
const MOST: usize = 3;
const WINDOW_S: f64 = 600.0;

/// Lines and times at which a server that had listened ended by itself.
pub(super) fn crashes(course: &Course<'_>) -> Vec<(usize, u64)> {
    let ended = witnessed(course.lines).filter_map(|(line, seen)| match seen {
        Witnessed::Crashes { number } => Some((line, number)),
        _ => None,
    });
    let has_run = ended.filter(|(_, number)| *number > 1 || has_listened(course, *number));
    has_run.map(|(line, _)| (line, course.lines[line].at_us())).collect()
}

fn has_listened(course: &Course<'_>, number: u32) -> bool {
    witnessed(course.lines)
        .any(|(_, seen)| matches!(seen, Witnessed::Listens { number: of, .. } if of == number))
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let crashes = crashes(course);
    let states: Vec<(usize, ServerState)> = course
        .shown()
        .filter_map(|(said, update)| match update {
            Update::Server { state, .. } => Some((said.line, *state)),
            _ => None,
        })
        .collect();
    let window_us = (WINDOW_S * course.time_scale * 1e6) as u64;
    let mut given_up = None;
    for (at, (line, at_us)) in crashes.iter().enumerate() {
        let lately = crashes[..=at].iter().filter(|(_, us)| at_us - us < window_us).count();
        let next = crashes.get(at + 1).map_or_else(|| course.shutdown(), |(next, _)| *next);
        let is_between = |of: usize| of > *line && of < next;
        if course.shutdown() < *line {
            continue;
        }
        told(course, *line, next, &mut examined);
        if lately > MOST {
            given_up.get_or_insert(*line);
            continue;
        }
        let started = witnessed(course.lines)
            .any(|(of, seen)| is_between(of) && matches!(seen, Witnessed::Started { .. }));
        examined.fact(started, || {
            format!("the server has crashed (crash {}), and was not started again", at + 1)
        });
        let fault_follows = at + 1 < crashes.len();
        let ready = states.iter().any(|(of, state)| is_between(*of) && *state == ServerState::Ready);
        if let Some((ready, _)) =
            states.iter().find(|(of, state)| is_between(*of) && *state == ServerState::Ready)
        {
            goes_on(course, *ready..next, &mut examined);
        }
        examined.fact(ready || fault_follows, || {
            format!("the server was started again after crash {}, and the person never learns it", at + 1)
        });
    }
    for (number, seen) in witnessed(course.lines).filter_map(|(_, seen)| match seen {
        Witnessed::Started { number, fresh_password, .. } if number > 1 => Some((number, fresh_password)),
        _ => None,
    }) {
        examined.fact(seen, || format!("start {number} has no password, or one that a server had before"));
    }
    loop_ends(course, &states, given_up, &mut examined);
    examined
}

/// Tasks that were there before go on: what the person says in them once they were read anew is taken.
fn goes_on(course: &Course<'_>, lives: Range<usize>, examined: &mut Examined) {
    let known = course.tasks.iter().filter(|task| task.line < lives.start);
    for task in known {
        let anew = course.shown().find(|(said, update)| {
            let is_its_own = matches!(update, Update::Timeline { task_id, .. } if *task_id == task.task);
            is_its_own && lives.contains(&said.line)
        });
        let Some(from) = anew.map(|(said, _)| said.line) else { continue };
        for (said, id, request) in course.asked() {
            let is_own = matches!(request, Request::TaskSend(send) if send.task_id == task.task);
            if is_own && (from..lives.end).contains(&said.line) {
                let refused = course.answer_to(id).is_some_and(|(_, outcome)| outcome.is_err());
                examined.fact(!refused, || {
                    format!("the server lives again, and {} takes no prompt any more", task.task)
                });
            }
        }
    }
}

/// Every task that there was learns of a crash.
fn told(course: &Course<'_>, line: usize, next: usize, examined: &mut Examined) {
    for task in course.tasks.iter().filter(|task| task.line < line) {
        let is_told = course.shown().any(|(said, update)| {
            let tells = match update {
                // What offers to load again tells of a conversation, and not of a server.
                Update::Error { task_id, retry: false, .. } => {
                    task_id.as_ref().is_none_or(|of| *of == task.task)
                }
                _ => false,
            };
            tells && said.line > line && said.line < next
        });
        examined.fact(is_told, || format!("{} never learns that the server has crashed", task.task));
    }
}

/// It is given up when it must be, and not before.
fn loop_ends(
    course: &Course<'_>,
    states: &[(usize, ServerState)],
    given_up: Option<usize>,
    examined: &mut Examined,
) {
    let disabled = states.iter().any(|(_, state)| *state == ServerState::Disabled);
    let new_tasks = course.asked().filter(|(said, _, request)| {
        matches!(request, Request::TaskStart(_))
            && given_up.is_some_and(|line| said.line > line)
            && !is_off(course, said.line)
    });
    match given_up {
        None => examined.fact(!disabled, || "the server was given up before it had crashed often".to_owned()),
        Some(line) => {
            examined.fact(disabled, || "the server crashes again and again, and is not given up".to_owned());
            let again = witnessed(course.lines)
                .any(|(of, seen)| of > line && matches!(seen, Witnessed::Started { .. }));
            examined.fact(!again, || "the server was started once more after too many crashes".to_owned());
            for (_, id, _) in new_tasks {
                let refused = course.answer_to(id).is_some_and(|(_, outcome)| outcome.is_err());
                examined.fact(refused, || {
                    "a task was begun with a server that crashes again and again".to_owned()
                });
            }
        }
    }
}
