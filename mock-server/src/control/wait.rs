//! Waits until something holds, with a limit.

use super::faults::no_fault;
use super::{Control, Outcome, Refused, Said, wrong};
use crate::http::core::Core;
use axum::http::StatusCode;
use fixtures::fault_plan::{During, Route, StreamName, check_route};
use fixtures::recording::{Line, Request};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Longer nobody waits.
const LIMIT_MAX_MS: u64 = 600_000;

/// What is waited for: one thing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    /// So many requests of this kind have come.
    request: Option<String>,
    /// So many events of this type have been sent to somebody.
    event: Option<String>,
    /// So many, of requests and events; 1 when absent.
    count: Option<usize>,
    /// So many streams are open.
    streams: Option<usize>,
    /// This fault has acted.
    fault: Option<usize>,
    /// This goes on at the server.
    #[serde(rename = "while")]
    during: Option<During>,
    /// How long at most.
    #[serde(default = "usual")]
    limit_ms: u64,
}

fn usual() -> u64 {
    10_000
}

enum Until {
    Request(Route),
    Event(String),
    Streams(usize),
    Fault(usize),
    During(During),
}

pub(super) async fn wait(core: &Arc<Core>, control: &Control, wait: Wait) -> Outcome {
    let count = wait.count.unwrap_or(1);
    let limit_ms = wait.limit_ms;
    if limit_ms > LIMIT_MAX_MS {
        return Err(wrong(format!("limit_ms is {LIMIT_MAX_MS} at most")));
    }
    let mut wanted = Vec::new();
    if let Some(route) = &wait.request {
        let route = route.parse().map_err(wrong)?;
        wanted.push(Until::Request(route));
    }
    wanted.extend(wait.event.map(Until::Event));
    wanted.extend(wait.streams.map(Until::Streams));
    wanted.extend(wait.fault.map(Until::Fault));
    wanted.extend(wait.during.map(Until::During));
    let [until] = wanted.as_slice() else {
        return Err(wrong("say one thing to wait for: request, event, streams, fault or while"));
    };
    match until {
        Until::Request(route) => check_route(route, &control.release).map_err(wrong)?,
        Until::Fault(number) if !core.faults.knows(*number) => return Err(no_fault(&number.to_string())),
        // Somebody may push an event that no server sends.
        _ => {}
    }
    let met = async {
        match until {
            Until::Request(route) => requested(core, route, count).await,
            Until::Event(kind) => until_now(core, || core.sent(kind) >= count).await,
            Until::Streams(wanted) => until_now(core, || core.open_streams() == *wanted).await,
            Until::Fault(number) => until_now(core, || core.faults.has_fired(*number)).await,
            Until::During(during) => until_now(core, || core.holds(*during)).await,
        }
    };
    tokio::select! {
        () = met => Ok(Said::Json(json!({"met": true}))),
        () = core.clock.pass(Duration::from_millis(limit_ms)) => {
            Err(Refused(StatusCode::REQUEST_TIMEOUT, format!("it did not hold within {limit_ms} ms; GET /journal tells what happened")))
        }
    }
}

/// Waits for requests, which the journal has: each of its lines is looked at once.
async fn requested(core: &Core, route: &Route, count: usize) {
    let mut left = count;
    let is_last = |line: &Line| {
        left -= usize::from(matches!(line, Line::Request(request) if means(route, request)));
        left == 0
    };
    if count > 0 {
        core.journal.wait_for_line(is_last).await;
    }
}

/// Waits for what the server knows. It writes its journal while it works, so whoever holds the journal may not ask it: who
/// waits for the other one here waits for ever.
async fn until_now(core: &Core, holds: impl Fn() -> bool) {
    let mut changes = core.journal.changes();
    loop {
        changes.borrow_and_update();
        if holds() || changes.changed().await.is_err() {
            return;
        }
    }
}

fn means(route: &Route, request: &Request) -> bool {
    let is_stream = request.method == "GET" && StreamName::is_path(&request.path);
    route.means(&request.method, &request.path, is_stream)
}
