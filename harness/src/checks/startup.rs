//! Does the person learn why the server is not there; and is it used when it is?

use super::cutover::is_off;
use super::{Check, Examined, word};
use crate::course::{Course, Exchange};
use crate::protocol::{Capability, Request, ServerReason, ServerState, Update};
use crate::witness::{Witnessed, witnessed};
use fixtures::fault_plan::StartAction;
use serde_json::Value;
use std::ops::Range;

pub(super) const CHECK: Check = Check {
    name: "startup",
    about: "A server that gets ready is used, with a password that nobody knows; of one that does not the person \
            learns why, in time; and what was mended is started when it is wanted again.",
    needs: &[Capability::Spawn],
    has_occasion: |course| !tries(course).is_empty(),
    examine,
};

/// What this machine alone can reach.
const HERE: [&str; 3] = ["127.0.0.1", "localhost", "::1"];

/// How long a start may take, unscaled, and what a busy machine may add to it.
const LIMIT_S: f64 = 30.0;
const SLACK_S: f64 = 6.0;

/// One time that the person wants the server started.
struct Try<'a> {
    id: &'a str,
    at_us: u64,
    /// Its lines: up to the next time.
    lines: Range<usize>,
    /// The how manieth.
    number: usize,
}

impl Try<'_> {
    fn has(&self, line: usize) -> bool {
        self.lines.contains(&line)
    }
}

fn tries<'a>(course: &'a Course<'_>) -> Vec<Try<'a>> {
    let mut tries: Vec<Try<'a>> = Vec::new();
    for (said, id, request) in course.asked() {
        if matches!(request, Request::ServerSpawn(_)) {
            if let Some(before) = tries.last_mut() {
                before.lines.end = said.line;
            }
            let number = tries.len() + 1;
            tries.push(Try { id, at_us: said.at_us, lines: said.line..usize::MAX, number });
        }
    }
    tries
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let seen: Vec<(usize, Witnessed)> = witnessed(course.lines).collect();
    for one in tries(course) {
        try_alone(course, &seen, &one, &mut examined);
    }
    examined
}

fn try_alone(course: &Course<'_>, seen: &[(usize, Witnessed)], one: &Try<'_>, examined: &mut Examined) {
    let Some(due) = due(course, seen, one) else { return };
    let answer = course.answer_to(one.id);
    let took_s = answer.map(|(said, _)| said.at_us.saturating_sub(one.at_us) as f64 / 1e6);
    let limit_s = LIMIT_S * course.time_scale + SLACK_S;
    examined.fact(took_s.is_some_and(|took| took <= limit_s), || match took_s {
        Some(took) => format!("the start was answered after {took:.1} s, and may take {limit_s:.1} s"),
        None => "the start was never answered".to_owned(),
    });
    let states: Vec<(ServerState, Option<ServerReason>, bool)> = course
        .shown()
        .filter(|(said, _)| one.has(said.line))
        .filter_map(|(_, update)| match update {
            Update::Server { state, reason, message } => {
                Some((*state, *reason, message.as_ref().is_some_and(|message| !message.trim().is_empty())))
            }
            _ => None,
        })
        .collect();
    let is_ready = states.iter().any(|(state, ..)| *state == ServerState::Ready);
    let outcome = answer.map(|(_, outcome)| outcome.is_ok());
    match due {
        None => {
            if one.number > 1 {
                examined.fact(outcome == Some(true), || {
                    "what had failed was mended, and the server is not started again".to_owned()
                });
            }
            examined.fact(is_ready, || "the server was ready, and the person never learns it".to_owned());
            let failed = states.iter().any(|(state, ..)| *state == ServerState::Failed);
            examined
                .fact(!failed, || "the server was ready, and the person learns that it is not".to_owned());
            let first = course.streams().map(|stream| stream.line).find(|line| one.has(*line));
            let asked = course.exchanges.iter().any(|exchange| {
                one.has(exchange.line)
                    && is_health(exchange)
                    && exchange.is_good()
                    && first.is_none_or(|first| exchange.line < first)
            });
            examined.fact(asked, || "the server was used, and never asked how it is".to_owned());
            for (_, seen) in seen.iter().filter(|(line, _)| one.has(*line)) {
                if let Witnessed::Started { number, fresh_password, host, .. } = seen {
                    examined.fact(*fresh_password, || {
                        format!("start {number} has no password, or one that a server had before")
                    });
                    examined.fact(HERE.contains(&host.as_str()), || {
                        format!("start {number} is told to listen on {host}, where others than this machine come in")
                    });
                }
            }
        }
        Some(reason) => {
            examined.fact(outcome == Some(false), || {
                format!(
                    "the server was not ready ({}), and the start was answered as if it were",
                    word(reason)
                )
            });
            examined.fact(!is_ready, || {
                format!("the server was not ready ({}), and is shown as if", word(reason))
            });
            begins_nothing(course, one, reason, examined);
            let told: Vec<_> = states.iter().filter(|(state, ..)| *state == ServerState::Failed).collect();
            examined.fact(told.len() == 1, || {
                format!("the start failed, and the person is told so {} times", told.len())
            });
            if let Some((_, said, has_words)) = told.first() {
                examined.fact(*said == Some(reason) && *has_words, || {
                    let said = said.map_or_else(|| "nothing".to_owned(), word);
                    format!("the start failed for {}, and the person is told {said}", word(reason))
                });
            }
        }
    }
}

/// Whoever wants a task of a server that was not ready gets none, and nothing is begun with it.
fn begins_nothing(course: &Course<'_>, one: &Try<'_>, reason: ServerReason, examined: &mut Examined) {
    for (_, id, _) in course
        .asked()
        .filter(|(said, _, request)| one.has(said.line) && matches!(request, Request::TaskStart(_)))
        .filter(|(said, ..)| !is_off(course, said.line))
    {
        let refused = course.answer_to(id).is_some_and(|(_, outcome)| outcome.is_err());
        examined
            .fact(refused, || format!("the server was not ready ({}), and a task was begun", word(reason)));
    }
    let begun = course
        .exchanges
        .iter()
        .any(|exchange| one.has(exchange.line) && exchange.method == "POST" && exchange.path == "/session");
    examined.fact(!begun, || {
        format!("the server was not ready ({}), and it was asked for a session", word(reason))
    });
}

/// Why the start has to fail; `Some(None)` when it must not, `None` when it never came to that.
fn due(course: &Course<'_>, seen: &[(usize, Witnessed)], one: &Try<'_>) -> Option<Option<ServerReason>> {
    let before = seen.iter().filter(|(line, _)| *line < one.lines.start);
    let mut in_the_way = before.filter_map(|(_, seen)| match seen {
        Witnessed::Spawning { program, port_taken } => Some((*program, *port_taken)),
        _ => None,
    });
    match in_the_way.next_back() {
        Some((false, _)) => return Some(Some(ServerReason::NoProgram)),
        Some((_, true)) => return Some(Some(ServerReason::PortTaken)),
        _ => {}
    }
    let started = seen.iter().filter(|(line, _)| one.has(*line)).find_map(|(_, seen)| match seen {
        Witnessed::Started { fault, .. } => Some(fault),
        _ => None,
    });
    match started {
        Some(Some(StartAction::Exit { .. })) => Some(Some(ServerReason::EarlyExit)),
        Some(Some(StartAction::Never)) => Some(Some(ServerReason::Silent)),
        Some(Some(StartAction::Garbled { .. })) => Some(Some(ServerReason::Garbled)),
        Some(_) => Some(of_health(course, one)),
        // What was mended is to be started.
        None if one.number > 1 => Some(None),
        None => None,
    }
}

/// A question how the server is.
fn is_health(exchange: &Exchange) -> bool {
    exchange.method == "GET" && ["/global/health", "/config"].contains(&exchange.path.as_str())
}

/// What the server's own answers say: those to the questions how it is.
fn of_health(course: &Course<'_>, one: &Try<'_>) -> Option<ServerReason> {
    let mut own = course.exchanges.iter().filter(|exchange| one.has(exchange.line));
    let last = own.clone().rfind(|exchange| is_health(exchange));
    let refused = own.next().is_some_and(|first| matches!(first.status(), Some(401 | 403)));
    match last {
        _ if refused => Some(ServerReason::Unauthorized),
        Some(last) if !last.is_good() => Some(ServerReason::Unhealthy),
        Some(last) if last.path == "/global/health" => {
            let body = &last.answer.as_ref()?.body;
            let is_shape = body["healthy"].is_boolean() && body["version"].is_string();
            (!is_shape).then_some(ServerReason::WrongShape)
        }
        Some(last) => {
            // All that may stand in the settings may be missing; what is there is what it should be.
            let body = &last.answer.as_ref()?.body;
            let is_missing_or = |value: &Value, is: fn(&Value) -> bool| value.is_null() || is(value);
            let is_shape = body.is_object()
                && is_missing_or(&body["model"], Value::is_string)
                && is_missing_or(&body["agent"], Value::is_object);
            (!is_shape).then_some(ServerReason::WrongShape)
        }
        None => None,
    }
}
