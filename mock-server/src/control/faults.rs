//! Faults: armed, disarmed, listed, done at once; and events that the server never sent.

use super::in_json::in_json;
use super::{Control, Outcome, Refused, Said, wrong};
use crate::fault::Moment;
use crate::fault::Standing;
use crate::http::core::Core;
use crate::performer::{Audience, Frame};
use axum::http::StatusCode;
use bytes::Bytes;
use fixtures::fault_plan::action::Stage;
use fixtures::fault_plan::{
    Action, During, Fault, FaultPlan, Place, StreamName, Times, Trigger, check_fault,
};
use fixtures::sse;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// What is to be armed, in one of three forms.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arm {
    /// Tables, as in a plan.
    #[serde(default)]
    faults: Vec<Value>,
    /// Lines, as on the command line.
    #[serde(default)]
    lines: Vec<String>,
    /// A plan in the words of its file.
    toml: Option<String>,
}

pub(super) fn arm(core: &Arc<Core>, control: &Control, arm: Arm) -> Outcome {
    let tables = arm.faults.len();
    let mut faults = Vec::new();
    for (at, table) in arm.faults.into_iter().enumerate() {
        let fault = serde_json::from_value(table).map_err(|error| {
            wrong(in_json(&format!("faults[{at}]: {}", fixtures::error::plain_words(&error.to_string()))))
        })?;
        faults.push(fault);
    }
    for line in &arm.lines {
        faults.push(Fault::short(line).map_err(wrong)?);
    }
    if let Some(toml) = &arm.toml {
        let plan = FaultPlan::parse(Path::new("plan"), toml).map_err(|error| wrong(error.to_string()))?;
        if !plan.starts.is_empty() {
            return Err(wrong("the server has started already; a [[start]] is for the next one"));
        }
        if !plan.acp.is_empty() || !plan.text.is_plain() {
            return Err(wrong("this is a server; [[acp]] and [text] break an agent on stdin and stdout"));
        }
        faults.extend(plan.faults);
    }
    if faults.is_empty() {
        return Err(wrong("say what to arm: {\"lines\": [\"cut after 5 events\"]}, or faults, or toml"));
    }
    check_all(control, &faults[..tables]).map_err(said_in_json)?;
    check_all(control, &faults[tables..])?;
    let numbers = core.arm(faults).map_err(|why| Refused(StatusCode::CONFLICT, why.to_string()))?;
    Ok(Said::Json(json!({"armed": numbers})))
}

fn said_in_json(Refused(status, words): Refused) -> Refused {
    Refused(status, in_json(&words))
}

/// Can each of them act here?
fn check_all(control: &Control, faults: &[Fault]) -> Result<(), Refused> {
    let lanes: Vec<&str> = control.lanes.iter().map(String::as_str).collect();
    let releases = [control.release.clone()];
    let more_lanes = "a lane is opened when the server starts";
    let place = Place { lanes: &lanes, more_lanes, releases: &releases, performed: &control.performed };
    for fault in faults {
        check_fault(fault, &place).map_err(|why| wrong(format!("it {fault}: {why}")))?;
    }
    Ok(())
}

pub(super) fn list(core: &Arc<Core>) -> Said {
    Said::Json(Value::Array(core.faults.standings(core.now_since_start()).iter().map(told).collect()))
}

fn told(standing: &Standing) -> Value {
    let Standing { number, fault, fired, is_disarmed, is_expired } = standing;
    let is_spent = matches!(fault.when.times, Times::Count(count) if *fired >= count);
    let state = match (is_disarmed, is_spent, is_expired) {
        (true, ..) => "disarmed",
        (_, true, _) => "spent",
        (.., true) => "expired",
        _ => "armed",
    };
    json!({"number": number, "does": fault.to_string(), "fired": fired, "state": state, "fault": **fault})
}

pub(super) fn disarm_all(core: &Arc<Core>) -> Said {
    core.disarm_all();
    Said::Json(json!({"disarmed": true}))
}

pub(super) fn disarm(core: &Arc<Core>, number: &str) -> Outcome {
    match number.parse() {
        Ok(number) if core.faults.disarm(number) => {
            core.note(format!("fault {number} is disarmed"));
            Ok(Said::Json(json!({"disarmed": number})))
        }
        _ => Err(no_fault(number)),
    }
}

pub(super) fn no_fault(number: &str) -> Refused {
    Refused(StatusCode::NOT_FOUND, format!("there is no fault {number}; GET /faults lists them"))
}

/// What happens at the server at once.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Now {
    #[serde(rename = "do")]
    action: Action,
    lane: Option<String>,
}

pub(super) fn now(core: &Arc<Core>, control: &Control, now: Now) -> Outcome {
    if now.action.stage() != Stage::Anywhere {
        let words = format!("'{}' acts on a stream, a request or a connection; arm it", now.action.word());
        return Err(wrong(words));
    }
    // As it would stand in a plan, so that it is held to the same.
    let when = Trigger { lane: now.lane.clone(), ..Trigger::at_once() };
    check_all(control, &[Fault { when, action: now.action.clone() }]).map_err(said_in_json)?;
    core.note(format!("at once it {}", now.action));
    let moment = match now.action {
        Action::Refuse(refuse) => Moment::Refuse(now.lane, refuse),
        Action::Password(password) => Moment::Password(password.password),
        Action::Restart(restart) => Moment::Restart(restart),
        Action::Reply(reply) if core.holds(During::PermissionPending) => Moment::Reply(reply, None),
        Action::Reply(_) => {
            return Err(Refused(StatusCode::CONFLICT, "no permission is pending; wait for one".to_owned()));
        }
        _ => return Err(wrong("it can't be done at once")),
    };
    core.let_happen(moment);
    Ok(Said::Json(json!({"done": true})))
}

/// An event that the server never sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Push {
    event: Value,
    /// The stream; `/event` and `/global/event` when absent.
    stream: Option<StreamName>,
    /// The directory whose event it is; of all when absent.
    directory: Option<String>,
}

pub(super) fn push(core: &Arc<Core>, push: Push) -> Outcome {
    let Some(kind) = push.event["type"].as_str().map(Arc::from) else {
        return Err(wrong("an event has a type: {\"event\": {\"type\": \"x.y\", \"properties\": {}}}"));
    };
    let both = [StreamName::Event, StreamName::GlobalEvent];
    let streams = both.into_iter().filter(|stream| push.stream.is_none_or(|wanted| wanted == *stream));
    let streams: Vec<StreamName> = match push.stream {
        Some(other) if !both.contains(&other) => vec![other],
        _ => streams.collect(),
    };
    core.note(format!("it is told to send the event {kind}"));
    let form = |stream: StreamName| {
        let wire = match stream {
            StreamName::GlobalEvent => {
                let directory = push.directory.as_deref().unwrap_or("global");
                json!({"directory": directory, "payload": push.event})
            }
            _ => push.event.clone(),
        };
        let directory = push.directory.as_deref().filter(|_| stream == StreamName::Event).map(Arc::from);
        let bytes = Bytes::from(sse::encode(&wire.to_string()));
        (Audience { stream, directory }, Frame { kind: Arc::clone(&kind), bytes })
    };
    core.push(&streams.into_iter().map(form).collect::<Vec<_>>());
    Ok(Said::Json(json!({"sent": true})))
}
