//! What a person waits for. Every wait has a limit and says what did not come.

use super::Problem;
use crate::capture::{Client, Method, Reply};
use crate::clock::{self, Limits};
use crate::events::{EventStream, StreamEnded};
use fixtures::redact::clean;
use serde_json::Value;
use std::time::Duration;

/// An exchange that does not wait for the agent.
pub(super) async fn ask(
    client: &Client,
    limits: &Limits,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<Reply, Problem> {
    let what = format!("the answer to {method} {path}");
    Ok(timed(&what, limits.exchange, client.exchange(method, path, "", body)).await??)
}

/// Waits until both streams have been quiet for `length`, be it before now.
pub(super) async fn quiet(
    one: &EventStream,
    other: &EventStream,
    length: Duration,
    limit: Duration,
) -> Result<(), Problem> {
    let what = format!("{} s without an event on both streams", length.as_secs_f32());
    let silence = clock::quiet_since(length, || one.last_activity().max(other.last_activity()));
    timed(&what, limit, silence).await
}

/// As [`quiet`], but only what is quiet from now on counts.
pub(super) async fn quiet_from_now(
    one: &EventStream,
    other: &EventStream,
    length: Duration,
    limit: Duration,
) -> Result<(), Problem> {
    let now = clock::now();
    let what = format!("{} s without an event on both streams", length.as_secs_f32());
    let silence = clock::quiet_since(length, || one.last_activity().max(other.last_activity()).max(now));
    timed(&what, limit, silence).await
}

pub(super) async fn timed<T>(
    what: &str,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Result<T, Problem> {
    clock::within(limit, work).await.ok_or_else(|| Problem::TimedOut { awaited: what.to_owned(), limit })
}

pub(super) async fn awaited<T>(
    what: &str,
    limit: Duration,
    event: impl Future<Output = Result<T, StreamEnded>>,
) -> Result<T, Problem> {
    timed(what, limit, event).await?.map_err(|ended| Problem::Ended { awaited: what.to_owned(), ended })
}

pub(super) fn accepted(request: &str, reply: Reply) -> Result<Reply, Problem> {
    if reply.is_success() {
        return Ok(reply);
    }
    Err(Problem::Refused { request: request.to_owned(), status: reply.status, body: shown(&reply) })
}

/// The beginning of a body, for messages.
pub(super) fn shown(reply: &Reply) -> String {
    const SHOWN_CHARS: usize = 300;
    // Cleaned before it is cut, so that no beginning of a secret stays.
    clean(&String::from_utf8_lossy(&reply.bytes)).chars().take(SHOWN_CHARS).collect()
}
