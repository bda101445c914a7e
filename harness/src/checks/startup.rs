//! Does the person learn why the server is not there; and is it used when it is?

use super::{Check, Examined, word};
use crate::course::{Course, Exchange};
use crate::protocol::{Capability, Request, ServerReason, ServerState, Update};
use crate::witness::{Witnessed, witnessed};
use fixtures::fault_plan::StartAction;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "startup",
    about: "A server that gets ready is used, with a password that nobody knows; of one that does not the person \
            learns why, in time.",
    needs: &[Capability::Spawn],
    has_occasion: |course| asked(course).is_some(),
    examine,
};

/// What this machine alone can reach.
const HERE: [&str; 3] = ["127.0.0.1", "localhost", "::1"];

/// How long a start may take, unscaled, and what a busy machine may add to it.
const LIMIT_S: f64 = 30.0;
const SLACK_S: f64 = 6.0;

/// The question, when it was asked, and its name.
fn asked<'a>(course: &'a Course<'_>) -> Option<(u64, &'a str)> {
    course.asked().find_map(|(said, id, request)| {
        matches!(request, Request::ServerSpawn(_)).then_some((said.at_us, id))
    })
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let Some((from_us, id)) = asked(course) else { return examined };
    let seen: Vec<Witnessed> = witnessed(course.lines).map(|(_, seen)| seen).collect();
    let Some(due) = due(course, &seen) else { return examined };
    let answer = course.answer_to(id);
    let took_s = answer.map(|(said, _)| said.at_us.saturating_sub(from_us) as f64 / 1e6);
    let limit_s = LIMIT_S * course.time_scale + SLACK_S;
    examined.fact(took_s.is_some_and(|took| took <= limit_s), || match took_s {
        Some(took) => format!("the start was answered after {took:.1} s, and may take {limit_s:.1} s"),
        None => "the start was never answered".to_owned(),
    });
    let states: Vec<(ServerState, Option<ServerReason>, bool)> = course
        .shown()
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
            examined.fact(is_ready, || "the server was ready, and the person never learns it".to_owned());
            let failed = states.iter().any(|(state, ..)| *state == ServerState::Failed);
            examined
                .fact(!failed, || "the server was ready, and the person learns that it is not".to_owned());
            let first = course.streams().map(|stream| stream.line).next();
            let asked = course.exchanges.iter().any(|exchange| {
                is_health(exchange) && exchange.is_good() && first.is_none_or(|first| exchange.line < first)
            });
            examined.fact(asked, || "the server was used, and never asked how it is".to_owned());
            for seen in &seen {
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
            begins_nothing(course, from_us, reason, &mut examined);
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
    examined
}

/// Whoever wants a task of a server that was not ready gets none, and nothing is begun with it.
fn begins_nothing(course: &Course<'_>, from_us: u64, reason: ServerReason, examined: &mut Examined) {
    for (_, id, _) in course
        .asked()
        .filter(|(said, _, request)| said.at_us >= from_us && matches!(request, Request::TaskStart(_)))
    {
        let refused = course.answer_to(id).is_some_and(|(_, outcome)| outcome.is_err());
        examined
            .fact(refused, || format!("the server was not ready ({}), and a task was begun", word(reason)));
    }
    let begun =
        course.exchanges.iter().any(|exchange| exchange.method == "POST" && exchange.path == "/session");
    examined.fact(!begun, || {
        format!("the server was not ready ({}), and it was asked for a session", word(reason))
    });
}

/// Why the first start has to fail; `Some(None)` when it must not, `None` when it never came to that.
fn due(course: &Course<'_>, seen: &[Witnessed]) -> Option<Option<ServerReason>> {
    for seen in seen {
        match seen {
            Witnessed::Spawning { program: false, .. } => return Some(Some(ServerReason::NoProgram)),
            Witnessed::Spawning { port_taken: true, .. } => return Some(Some(ServerReason::PortTaken)),
            Witnessed::Started { number: 1, fault, .. } => {
                let reason = match fault {
                    Some(StartAction::Exit { .. }) => Some(ServerReason::EarlyExit),
                    Some(StartAction::Never) => Some(ServerReason::Silent),
                    Some(StartAction::Garbled { .. }) => Some(ServerReason::Garbled),
                    _ => of_health(course),
                };
                return Some(reason);
            }
            _ => {}
        }
    }
    None
}

/// A question how the server is.
fn is_health(exchange: &Exchange) -> bool {
    exchange.method == "GET" && ["/global/health", "/config"].contains(&exchange.path.as_str())
}

/// What the server's own answers say: those to the questions how it is.
fn of_health(course: &Course<'_>) -> Option<ServerReason> {
    let last = course.exchanges.iter().rfind(|exchange| is_health(exchange));
    let refused = course.exchanges.first().is_some_and(|first| matches!(first.status(), Some(401 | 403)));
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
            let is_or_is_not = |value: &Value, is: fn(&Value) -> bool| value.is_null() || is(value);
            let is_shape = body.is_object()
                && is_or_is_not(&body["model"], Value::is_string)
                && is_or_is_not(&body["agent"], Value::is_object);
            (!is_shape).then_some(ServerReason::WrongShape)
        }
        None => None,
    }
}
