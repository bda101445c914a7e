//! Answers a request as a plan of faults wants it: late, never, otherwise, or half.

use super::auth::{self, Refusal};
use super::listen::refused;
use super::wire::Wire;
use super::{Exchange, Visitor, directory_header, insert, perform, refuse, written};
use crate::control;
use crate::fault::AnswerFaults;
use crate::fault::answers::{LastAnswers, reply_of};
use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use fixtures::fault_plan::StreamName;
use fixtures::fault_plan::action::{Side, Status};
use fixtures::recording::{End, HowEnded, Line};
use futures_util::stream;
use std::time::Duration;

/// Answers a request.
pub(super) async fn handle(lane: Visitor, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    let is_stream = parts.method == "GET" && StreamName::is_path(path);
    let query = parts.uri.query().unwrap_or_default();
    // Whoever is of another site is nobody's client, and no fault is for him.
    let refusal = auth::check(&lane.core.access, &parts.headers, path, query);
    let is_foreign = refusal == Some(Refusal::ForeignHost);
    if control::is_for(path)
        && !is_foreign
        && let Some(control) = &lane.core.control
    {
        return control::handle(&lane.core, control, &parts, body).await;
    }
    let faults = match is_foreign {
        true => AnswerFaults::default(),
        false => {
            lane.core.strike(&lane.name, (parts.method.as_str(), path), is_stream, || name(&lane, &parts))
        }
    };
    if faults == AnswerFaults::default() {
        return perform(&lane, &parts, body, faults).await;
    }
    let (before, behind) = faults.late_ms;
    lane.core.clock.wait_or_skip(Duration::from_millis(before)).await;
    if faults.hangs == Some(Side::Request) || faults.resets == Some(Side::Request) {
        let exchange = note(&lane, &parts, body).await;
        return never(&lane, exchange, faults.resets.is_some()).await;
    }
    let response = match faults.instead() {
        Some(status) => instead(&lane, &parts, body, status).await,
        None => perform(&lane, &parts, body, faults.clone()).await,
    };
    lane.core.clock.wait_or_skip(Duration::from_millis(behind)).await;
    if faults.hangs.is_some() || faults.resets.is_some() {
        let how = if faults.resets.is_some() { HowEnded::Reset } else { HowEnded::Broken };
        if let Some(Exchange(exchange)) = response.extensions().get() {
            // The journal has the answer as the server gave it; its reader never has all of it.
            ended(&lane, *exchange, how);
        }
        return never(&lane, None, faults.resets.is_some()).await;
    }
    if behind > 0
        && !is_stream
        && faults.truncate.is_none()
        && let Some(Exchange(exchange)) = response.extensions().get()
    {
        // The journal has the answer as the server gave it; its reader has it now.
        ended(&lane, *exchange, HowEnded::ClosedByServer);
    }
    match faults.truncate {
        Some(bytes) if !is_stream => {
            if let Some(Exchange(exchange)) = response.extensions().get() {
                // The journal has the answer as the server gave it.
                ended(&lane, *exchange, HowEnded::Cut);
            }
            truncated(response, bytes).await
        }
        _ => response,
    }
}

/// Tells the journal that nothing more of an answer comes.
fn ended(lane: &Visitor, exchange: u64, how: HowEnded) {
    lane.core.journal.push(|at_us| Line::End(End { at_us, exchange, how }));
}

/// Never answers, and tells the journal when that is over: at once where the connection is reset, otherwise when the client
/// leaves.
async fn never(lane: &Visitor, exchange: Option<u64>, resets: bool) -> Response<Body> {
    if !resets {
        lane.wire.is_left().await;
    }
    let how = if resets { HowEnded::Reset } else { HowEnded::ClosedByClient };
    if let Some(exchange) = exchange {
        ended(lane, exchange, how);
    }
    nothing(&lane.wire).await
}

/// The request in words, as its last answer is remembered.
fn name(lane: &Visitor, parts: &Parts) -> String {
    let of = parts.uri.path_and_query().map_or_else(|| parts.uri.path(), PathAndQuery::as_str);
    let directory = directory_header(&parts.headers, lane.core.directory_header);
    LastAnswers::name(parts.method.as_str(), of, directory.as_deref())
}

/// Answers nothing: the connection is reset.
pub(super) async fn nothing(wire: &Wire) -> Response<Body> {
    wire.reset();
    std::future::pending().await
}

/// Tells the journal of a request that nobody performs.
async fn note(lane: &Visitor, parts: &Parts, body: Body) -> Option<u64> {
    let body = lane.core.intake.read(body).await.ok()?;
    let exchange = lane.core.next_ticket();
    lane.core.note_request(&lane.name, parts, exchange, &body);
    Some(exchange)
}

/// Answers without the server.
async fn instead(lane: &Visitor, parts: &Parts, body: Body, status: &Status) -> Response<Body> {
    // A refusal is the server's own unless the plan has other words for it.
    if status.status == 401
        && status.body.is_none()
        && status.content_type.is_none()
        && status.headers.is_empty()
    {
        return refuse(lane, parts, Refusal::Unauthorized);
    }
    let Some(exchange) = note(lane, parts, body).await else { return refused(StatusCode::BAD_REQUEST) };
    let reply = reply_of(status, lane.core.clock.now_ms());
    let cors = lane.core.origins.headers(&parts.headers);
    lane.core.note_reply(exchange, &reply, &cors);
    let mut response = written(reply, parts).await;
    insert(&mut response, cors);
    response
}

/// The beginning of an answer, under the length of the whole.
async fn truncated(response: Response<Body>, bytes: usize) -> Response<Body> {
    let (mut head, body) = response.into_parts();
    // The stand-in's own answers are as long as they are.
    let whole = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(whole.len()));
    let kept = whole.slice(..bytes.min(whole.len().saturating_sub(1)));
    let chunks = stream::unfold(Some(kept), |kept| async move {
        match kept {
            Some(kept) if !kept.is_empty() => Some((Ok::<Bytes, Short>(kept), Some(Bytes::new()))),
            Some(_) => {
                // What has been said is to arrive.
                tokio::task::yield_now().await;
                Some((Err(Short), None))
            }
            None => None,
        }
    });
    Response::from_parts(head, Body::from_stream(chunks))
}

/// Why the rest of an answer does not come.
#[derive(Debug, thiserror::Error)]
#[error("the answer was cut")]
struct Short;
