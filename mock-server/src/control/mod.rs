//! The control API: a stand-in is told over HTTP what breaks, which gate opens, what to play, and what happened.
//!
//! It lies under a prefix that no server has, on every lane, and only when a token was given. What it can do stands in
//! `openapi.json` beside this file; a client in any language can be made of that. Who adds an operation adds it there, in
//! [`answer`], and in the clients of `clients/`.

mod faults;
mod gates;
mod in_json;
mod journal;
mod openapi;
mod wait;

pub use openapi::description;

use crate::http::core::Core;
use crate::options::StartError;
use crate::performer::Performer;
use crate::verify::Calls;
use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Response, StatusCode, header};
use fixtures::ServerKind;
use fixtures::fault_plan::Performed;
use fixtures::near_names::unknown;
use fixtures::scenario::Scenario;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Where it lies.
pub const PREFIX: &str = "/__standin__";

/// The description of all operations, but for what a fault is.
const OPENAPI: &str = include_str!("openapi.json");

/// Longer requests are refused.
const BODY_MAX: usize = 64 * 1024 * 1024;

/// Makes a performer anew: of this scenario, or of the one that is performed.
pub(crate) type Maker = Box<dyn Fn(Option<Scenario>) -> Result<Box<dyn Performer>, StartError> + Send + Sync>;

/// What the control API needs.
pub(crate) struct Control {
    pub(crate) token: String,
    pub(crate) server: ServerKind,
    /// The lanes, by name.
    pub(crate) lanes: Vec<String>,
    /// The release whose events come.
    pub(crate) release: String,
    /// The one that the server begins with.
    pub(crate) password: Option<String>,
    /// Where it stands in, which decides what works.
    pub(crate) performed: Vec<Performed>,
    /// None where a recording is played.
    pub(crate) maker: Option<Maker>,
    pub(crate) gates: Mutex<Vec<String>>,
    /// Held by who begins anew: one at a time makes the folders.
    pub(crate) anew: Mutex<()>,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Why an operation was not done: the status, and in words what to do.
#[derive(Debug)]
struct Refused(StatusCode, String);

fn wrong(words: impl Into<String>) -> Refused {
    Refused(StatusCode::BAD_REQUEST, words.into())
}

/// What an operation answers.
enum Said {
    Json(Value),
    Text(&'static str, String),
}

type Outcome = Result<Said, Refused>;

/// Is it for the control API?
pub(crate) fn is_for(path: &str) -> bool {
    path.strip_prefix(PREFIX).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Answers a request for the control API.
pub(crate) async fn handle(core: &Arc<Core>, control: &Control, parts: &Parts, body: Body) -> Response<Body> {
    let outcome = match is_known(control, parts) {
        true => answer(core, control, parts, body).await,
        false => Err(Refused(
            StatusCode::UNAUTHORIZED,
            "the control API wants its own token: authorization: Bearer TOKEN".to_owned(),
        )),
    };
    let (status, kind, text) = match outcome {
        Ok(Said::Json(value)) => (StatusCode::OK, "application/json", value.to_string()),
        Ok(Said::Text(kind, text)) => (StatusCode::OK, kind, text),
        Err(Refused(status, words)) => (status, "application/json", json!({"error": words}).to_string()),
    };
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn is_known(control: &Control, parts: &Parts) -> bool {
    let given = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = given
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    token.is_some_and(|(_, token)| token.trim() == control.token)
}

async fn answer(core: &Arc<Core>, control: &Control, parts: &Parts, body: Body) -> Outcome {
    let path = parts.uri.path().strip_prefix(PREFIX).unwrap_or_default();
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let query = crate::http::decode_query(parts.uri.query().unwrap_or_default());
    let body = axum::body::to_bytes(body, BODY_MAX).await.map_err(|_| {
        Refused(StatusCode::PAYLOAD_TOO_LARGE, format!("a request has {BODY_MAX} bytes at most"))
    })?;
    match (&parts.method, segments.as_slice()) {
        (&Method::GET, ["openapi.json"]) => Ok(Said::Json(description().clone())),
        (&Method::GET, ["faults"]) => Ok(faults::list(core)),
        (&Method::POST, ["faults"]) => faults::arm(core, control, read(&body)?),
        (&Method::DELETE, ["faults"]) => Ok(faults::disarm_all(core)),
        (&Method::DELETE, ["faults", number]) => faults::disarm(core, number),
        (&Method::POST, ["now"]) => faults::now(core, control, read(&body)?),
        (&Method::POST, ["events"]) => faults::push(core, read(&body)?),
        (&Method::GET, ["gates"]) => Ok(gates::list(core, control)),
        (&Method::POST, ["gates", name]) => gates::open(core, control, name),
        (&Method::GET, ["scenarios"]) => Ok(Said::Json(json!(fixtures::catalog::scenario_names()))),
        (&Method::POST, ["scenario"]) => load(core, control, read(&body)?),
        (&Method::POST, ["reset"]) => reset(core, control, read(&body)?),
        (&Method::POST, ["wait"]) => wait::wait(core, control, read(&body)?).await,
        (&Method::GET, ["journal"]) => journal::read(core, &query),
        (&Method::GET, ["verify"]) => Ok(verify(core)),
        (&Method::POST, ["verify"]) => verify_calls(core, control, &read(&body)?),
        (method, _) => {
            let asked = format!("{method} {path}");
            let known: Vec<String> =
                operations().into_iter().map(|(method, path)| format!("{method} {path}")).collect();
            Err(Refused(StatusCode::NOT_FOUND, unknown("operation", &asked, &known)))
        }
    }
}

/// The operations that the description has: methods, and paths behind the prefix.
pub fn operations() -> Vec<(String, String)> {
    let paths = description()["paths"].as_object().into_iter().flatten();
    let of = |(path, methods): (&String, &Value)| {
        let path = path.trim_start_matches(PREFIX).to_owned();
        let methods = methods.as_object().into_iter().flatten();
        methods.map(|(method, _)| (method.to_uppercase(), path.clone())).collect::<Vec<_>>()
    };
    paths.flat_map(of).collect()
}

fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, Refused> {
    let text = if body.is_empty() { b"{}" } else { &body[..] };
    let value: Value =
        serde_json::from_slice(text).map_err(|error| wrong(format!("the body is no JSON: {error}")))?;
    if !value.is_object() {
        return Err(wrong("the body is an object: {\"…\": …}"));
    }
    serde_json::from_value(value).map_err(|error| {
        let words = fixtures::error::plain_words(&error.to_string());
        wrong(in_json::in_json(&format!("the body is not what this operation takes: {words}")))
    })
}

/// What is to be played.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Load {
    /// A scenario that Standin carries.
    name: Option<String>,
    /// A scenario in the words of its file.
    toml: Option<String>,
}

fn load(core: &Arc<Core>, control: &Control, load: Load) -> Outcome {
    let told = load.name.as_deref().unwrap_or("of its own words").to_owned();
    let scenario = match (load.name, load.toml) {
        (Some(name), None) => fixtures::catalog::scenario(&name),
        (None, Some(toml)) => Scenario::parse(Path::new("scenario"), &toml),
        _ => {
            return Err(wrong(
                "say which scenario: {\"name\": \"text/plain\"}, or {\"toml\": \"about = …\"}",
            ));
        }
    };
    let scenario = scenario.map_err(|error| wrong(error.to_string()))?;
    if !scenario.pages.is_empty() {
        return Err(wrong("this scenario shows pages, and that begins with the server: start one with it"));
    }
    let gates = scenario.gates();
    begin_anew(control, Some(scenario), |performer| core.begin_anew(performer))?;
    *control.gates.lock().unwrap_or_else(PoisonError::into_inner) = gates;
    core.note(format!("it is told to begin anew with the scenario {told}"));
    Ok(Said::Json(json!({"loaded": true})))
}

/// What begins anew.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reset {
    what: What,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum What {
    /// The journal is empty.
    Journal,
    /// The server is as it was when it began, and no fault has ever been armed.
    All,
}

fn reset(core: &Arc<Core>, control: &Control, reset: Reset) -> Outcome {
    match reset.what {
        What::Journal => core.empty_journal(),
        What::All => {
            begin_anew(control, None, |performer| core.begin_all_anew(performer, control.password.clone()))?;
        }
    }
    Ok(Said::Json(json!({"reset": true})))
}

/// With the performer of another scenario, or of the same.
fn begin_anew(
    control: &Control,
    scenario: Option<Scenario>,
    with: impl FnOnce(Box<dyn Performer>),
) -> Result<(), Refused> {
    let Some(maker) = &control.maker else {
        return Err(wrong("a recording is played here; it begins anew with a server of its own"));
    };
    let _alone = control.anew.lock().unwrap_or_else(PoisonError::into_inner);
    let performer = maker(scenario).map_err(|error| Refused(StatusCode::CONFLICT, error.to_string()))?;
    with(performer);
    Ok(())
}

fn verify(core: &Arc<Core>) -> Said {
    let unmet = core.unmet();
    let faults =
        unmet.unfired.iter().map(|(number, fault)| json!({"number": number, "does": fault.to_string()}));
    Said::Json(json!({
        "holds": unmet.is_empty(),
        "unscripted": unmet.unscripted,
        "unused": unmet.unused,
        "unknown": unmet.unknown,
        "unplayed": unmet.unplayed,
        "unfired": faults.collect::<Vec<_>>(),
    }))
}

fn verify_calls(core: &Arc<Core>, control: &Control, calls: &Calls) -> Outcome {
    calls.check(&control.release, &control.lanes).map_err(wrong)?;
    let unmet = core.unmet_calls(calls);
    Ok(Said::Json(json!({"holds": unmet.is_empty(), "unmet": unmet})))
}

#[cfg(test)]
mod tests;
