//! Waits until something holds, with a limit.

use super::{Outcome, Refused, Said, wrong};
use crate::http::core::Core;
use axum::http::StatusCode;
use fixtures::fault_plan::{During, Route, StreamName};
use fixtures::recording::{End, Line, Request};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;
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

pub(super) async fn wait(core: &Arc<Core>, wait: Wait) -> Outcome {
    let count = wait.count.unwrap_or(1);
    let limit_ms = wait.limit_ms;
    if limit_ms > LIMIT_MAX_MS {
        return Err(wrong(format!("limit_ms is {LIMIT_MAX_MS} at most")));
    }
    let mut wanted = Vec::new();
    if let Some(route) = &wait.request {
        wanted.push(Until::Request(route.parse().map_err(wrong)?));
    }
    wanted.extend(wait.event.map(Until::Event));
    wanted.extend(wait.streams.map(Until::Streams));
    wanted.extend(wait.fault.map(Until::Fault));
    wanted.extend(wait.during.map(Until::During));
    let [until] = wanted.as_slice() else {
        return Err(wrong("say one thing to wait for: request, event, streams, fault or while"));
    };
    let mut changes = core.journal.changes();
    let met = async {
        loop {
            changes.borrow_and_update();
            // The server writes its journal while it works: nobody may ask it while he holds the journal.
            let lines = core.journal.lines();
            if holds(core, until, count, &lines) || changes.changed().await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = met => Ok(Said::Json(json!({"met": true}))),
        () = core.clock.pass(Duration::from_millis(limit_ms)) => {
            Err(Refused(StatusCode::REQUEST_TIMEOUT, format!("it did not hold within {limit_ms} ms; GET /journal tells what happened")))
        }
    }
}

fn holds(core: &Core, until: &Until, count: usize, lines: &[Line]) -> bool {
    match until {
        Until::Request(route) => {
            let requests = lines
                .iter()
                .filter_map(|line| if let Line::Request(request) = line { Some(request) } else { None });
            requests.filter(|request| means(route, request)).count() >= count
        }
        Until::Event(kind) => core.sent(kind) >= count,
        Until::Streams(wanted) => open_streams(lines) == *wanted,
        Until::Fault(number) => {
            core.faults.standings().iter().any(|standing| standing.number == *number && standing.fired > 0)
        }
        Until::During(during) => core.holds(*during),
    }
}

fn means(route: &Route, request: &Request) -> bool {
    let is_stream = request.method == "GET" && StreamName::is_path(&request.path);
    route.means(&request.method, &request.path, is_stream)
}

fn open_streams(lines: &[Line]) -> usize {
    let mut asked = BTreeSet::new();
    let mut open = BTreeSet::new();
    for line in lines {
        match line {
            Line::Request(request) if StreamName::is_path(&request.path) => {
                asked.insert(request.exchange);
            }
            Line::Response(response) if response.status == 200 && asked.contains(&response.exchange) => {
                open.insert(response.exchange);
            }
            Line::End(End { exchange, .. }) => {
                open.remove(exchange);
            }
            _ => {}
        }
    }
    open.len()
}
