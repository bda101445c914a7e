//! HTTP around a performer: lanes, credentials, bodies. No route is named here; routes are the performer's.

pub(crate) mod auth;
pub(crate) mod core;
pub(crate) mod cors;
pub(crate) mod doors;
mod encoding;
mod faulted;
pub mod in_memory;
mod intake;
pub(crate) mod listen;
pub(crate) mod wire;

use crate::fault::AnswerFaults;
use crate::performer::WireReply;
use crate::screens::{Guest, accepted};
use crate::world::{ApiRequest, Knock};
use auth::Refusal;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use core::{Answer, Core};
use encoding::Coding;
use intake::Unread;
use percent_encoding::percent_decode_str;
use std::sync::Arc;
use wire::Wire;

const UNAUTHORIZED: &str = r#"{"_tag":"UnauthorizedError","message":"Authentication required"}"#;

/// A way in: one port, one lane.
#[derive(Clone)]
pub(crate) struct Lane {
    pub(crate) core: Arc<Core>,
    pub(crate) name: Arc<str>,
}

/// Somebody who asks on a connection of a lane.
#[derive(Clone)]
pub(crate) struct Visitor {
    pub(crate) core: Arc<Core>,
    pub(crate) name: Arc<str>,
    pub(crate) wire: Wire,
}

/// The number under which the journal has an answer.
#[derive(Debug, Clone, Copy)]
struct Exchange(u64);

/// Answers a request; what a fault does to the answer stands in `faulted.rs`.
async fn perform(lane: &Visitor, parts: &Parts, body: Body, faults: AnswerFaults) -> Response<Body> {
    let query = parts.uri.query().unwrap_or_default();
    let refusal = auth::check(&lane.core.access, &parts.headers, parts.uri.path(), query);
    if parts.method == Method::OPTIONS && refusal != Some(Refusal::ForeignHost) {
        return preflight(lane, parts);
    }
    let has_ticket = parts.method == Method::GET && auth::brings_ticket(parts.uri.path(), query);
    if let Some(refusal) = refusal.filter(|refusal| *refusal == Refusal::ForeignHost || !has_ticket) {
        return refuse(lane, parts, refusal);
    }
    let cors = lane.core.origins.headers(&parts.headers);
    let Ok(path) = lane.core.operations.path(parts.method.as_str(), parts.uri.path()) else {
        return listen::refused(StatusCode::NOT_FOUND);
    };
    let body = match lane.core.intake.read(body).await {
        Ok(body) => body,
        Err(Unread::Broken) => return listen::refused(StatusCode::BAD_REQUEST),
        Err(Unread::TooLong) => return plain(StatusCode::PAYLOAD_TOO_LARGE, intake::TOO_LONG),
    };
    let api = ApiRequest {
        ticket: lane.core.next_ticket(),
        method: parts.method.to_string(),
        path,
        query: decode_query(query),
        host: host(&parts.headers),
        directory_header: directory_header(&parts.headers, lane.core.directory_header),
        content_type: text(&parts.headers, header::CONTENT_TYPE.as_str()),
        body: body.clone(),
        knock: knock(lane, parts),
    };
    let exchange = api.ticket;
    if lane.core.operations.find(&api.method, &api.path).is_none() && api.path != "/doc" {
        lane.core.strays().note_unknown(&api.method, &api.path);
    }
    lane.core.note_request(&lane.name, parts, exchange, &body);
    match lane.core.take(&lane.name, api, &cors, faults).await {
        Some(Answer::Reply(reply)) => {
            let number = Exchange(exchange);
            if reply.status == StatusCode::SWITCHING_PROTOCOLS.as_u16() {
                return let_in(lane, parts, query);
            }
            if reply.status == StatusCode::NOT_IMPLEMENTED.as_u16() {
                lane.core.strays().note_unplayed(parts.method.as_str(), parts.uri.path());
            }
            let mut response = written(reply, parts).await;
            insert(&mut response, cors);
            response.extensions_mut().insert(number);
            response
        }
        Some(Answer::Stream(connection)) => {
            let headers = core::stream_headers(connection.stream);
            let mut response = Response::new(Body::from_stream(connection.into_body(lane.wire.clone())));
            insert_all(&mut response, headers);
            insert(&mut response, cors);
            response
        }
        // The server has ended meanwhile, and its connections with it.
        None => faulted::nothing(&lane.wire).await,
    }
}

/// How somebody knocks; a request in memory has no connection that could become another.
fn knock(lane: &Visitor, parts: &Parts) -> Knock {
    let headers = &parts.headers;
    let says = |name: HeaderName, word: &str| {
        let said = text(headers, name.as_str()).unwrap_or_default();
        said.split(',').any(|part| part.trim().eq_ignore_ascii_case(word))
    };
    let is_websocket = says(header::UPGRADE, "websocket")
        && says(header::CONNECTION, "upgrade")
        && headers.contains_key(header::SEC_WEBSOCKET_KEY);
    let page = text(headers, header::ORIGIN.as_str());
    let is_own = |page: &str| page.split_once("://").is_some_and(|(_, of)| of == host(headers));
    Knock {
        upgrades: is_websocket && matches!(lane.wire, Wire::Socket(_)),
        asks_for_ticket: text(headers, &lane.core.ticket_header).is_some_and(|word| word == "1"),
        is_at_home: page.is_none_or(|page| is_own(&page) || lane.core.origins.allow(&page)),
    }
}

/// Lets somebody in to look at a terminal; whoever serves the connection goes on with it as a WebSocket.
fn let_in(lane: &Visitor, parts: &Parts, query: &str) -> Response<Body> {
    let id = parts.uri.path().trim_end_matches('/').rsplit('/').nth(1).map(decode).unwrap_or_default();
    let pairs = decode_query(query);
    let cursor = pairs.iter().find(|(name, _)| name == "cursor").map(|(_, word)| word.as_str());
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let key = text(&parts.headers, header::SEC_WEBSOCKET_KEY.as_str()).unwrap_or_default();
    let mut headers = vec![
        (header::UPGRADE, "websocket".to_owned()),
        (header::CONNECTION, "Upgrade".to_owned()),
        (header::SEC_WEBSOCKET_ACCEPT, accepted(&key)),
    ];
    let wanted = text(&parts.headers, header::SEC_WEBSOCKET_PROTOCOL.as_str());
    let wanted = wanted.and_then(|list| Some(list.split(',').next()?.trim().to_owned()));
    headers.extend(wanted.map(|protocol| (header::SEC_WEBSOCKET_PROTOCOL, protocol)));
    insert(&mut response, headers);
    response.extensions_mut().insert(Guest::of(lane.core.screens.of(&id), cursor));
    response
}

/// An answer as its reader wants it.
async fn written(reply: WireReply, parts: &Parts) -> Response<Body> {
    let WireReply { status, content_type, mut body, headers } = reply;
    let kind = content_type.as_deref();
    let coding = Coding::wanted(&parts.headers)
        .filter(|_| encoding::is_for(parts.method.as_str(), parts.uri.path(), kind, body.len()));
    let mut coded = None;
    if let Some(coding) = coding
        && let Some(bytes) = coding.encode(&body).await
    {
        (body, coded) = (bytes, Some(coding.word()));
    }
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let kind = content_type.map(|kind| (header::CONTENT_TYPE, kind));
    let coded = coded.map(|coding| (header::CONTENT_ENCODING, coding.to_owned()));
    let own =
        headers.into_iter().filter_map(|(name, value)| Some((HeaderName::try_from(&*name).ok()?, value)));
    insert(&mut response, kind.into_iter().chain(coded).chain(own).collect());
    response
}

fn preflight(lane: &Visitor, parts: &Parts) -> Response<Body> {
    let exchange = lane.core.next_ticket();
    lane.core.note_request(&lane.name, parts, exchange, &[]);
    let headers = lane.core.origins.preflight(&parts.headers);
    lane.core.note_answer(exchange, 204, &headers, &[]);
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    insert(&mut response, headers);
    response
}

fn insert(response: &mut Response<Body>, headers: Vec<(HeaderName, String)>) {
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
}

fn insert_all(response: &mut Response<Body>, headers: &[(&'static str, &'static str)]) {
    for (name, value) in headers {
        response.headers_mut().insert(*name, HeaderValue::from_static(value));
    }
}

fn refuse(lane: &Visitor, parts: &Parts, refusal: Refusal) -> Response<Body> {
    let exchange = lane.core.next_ticket();
    lane.core.note_request(&lane.name, parts, exchange, &[]);
    match refusal {
        Refusal::Unauthorized => {
            let mut headers = lane.core.origins.headers(&parts.headers);
            headers.push((header::WWW_AUTHENTICATE, "Basic realm=\"Secure Area\"".to_owned()));
            // The routes of the next generation say why; all others are silent.
            let says_why = parts.uri.path().starts_with("/api/")
                && lane.core.operations.find(parts.method.as_str(), parts.uri.path()).is_some();
            let body = if says_why { UNAUTHORIZED } else { "" };
            if says_why {
                headers.push((header::CONTENT_TYPE, "application/json".to_owned()));
            }
            lane.core.note_answer(exchange, 401, &headers, body.as_bytes());
            let mut response = Response::new(Body::from(body));
            *response.status_mut() = StatusCode::UNAUTHORIZED;
            insert(&mut response, headers);
            response
        }
        Refusal::ForeignHost => {
            lane.core.note_answer(exchange, 403, &[], &[]);
            plain(
                StatusCode::FORBIDDEN,
                "standin answers only requests whose Host is this machine's loopback",
            )
        }
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The pairs of a query.
pub(crate) fn decode_query(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(&key.replace('+', " ")), decode(&value.replace('+', " ")))
        })
        .collect()
}

fn host(headers: &HeaderMap) -> String {
    headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or("localhost").to_owned()
}

fn directory_header(headers: &HeaderMap, name: &str) -> Option<String> {
    text(headers, name)
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

#[cfg(test)]
mod tests;
