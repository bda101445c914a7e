//! HTTP around a performer: lanes, credentials, bodies. No route is named here; routes are the performer's.

pub(crate) mod auth;
pub(crate) mod core;
pub(crate) mod cors;

use crate::world::ApiRequest;
use auth::Refusal;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use core::{Answer, Core};
use percent_encoding::percent_decode_str;
use std::sync::Arc;

/// The largest request body that is read.
const BODY_MAX_BYTES: usize = 64 * 1024 * 1024;

const UNAUTHORIZED: &str = r#"{"_tag":"UnauthorizedError","message":"Authentication required"}"#;

/// A way in: one port, one lane.
#[derive(Clone)]
pub(crate) struct Lane {
    pub(crate) core: Arc<Core>,
    pub(crate) name: Arc<str>,
}

pub(crate) fn app(lane: Lane) -> Router {
    Router::new().fallback(handle).with_state(lane)
}

async fn handle(State(lane): State<Lane>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default();
    let refusal = auth::check(&lane.core.access, &parts.headers, query);
    if parts.method == Method::OPTIONS && refusal != Some(Refusal::ForeignHost) {
        return preflight(&lane, &parts);
    }
    if let Some(refusal) = refusal {
        return refuse(&lane, &parts, refusal);
    }
    let cors = lane.core.origins.headers(&parts.headers);
    let Ok(body) = axum::body::to_bytes(body, BODY_MAX_BYTES).await else {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "standin reads bodies of up to 64 MiB");
    };
    let api = ApiRequest {
        ticket: lane.core.next_ticket(),
        method: parts.method.to_string(),
        path: decode(parts.uri.path()),
        query: decode_query(query),
        host: host(&parts.headers),
        directory_header: directory_header(&parts.headers, lane.core.directory_header),
        content_type: text(&parts.headers, header::CONTENT_TYPE.as_str()),
        body: body.to_vec(),
    };
    let exchange = api.ticket;
    lane.core.note_request(&lane.name, &parts, exchange, &body);
    match lane.core.take(&lane.name, api, &cors).await {
        Some(Answer::Reply(reply)) => {
            let mut response = Response::new(Body::from(reply.body));
            *response.status_mut() =
                StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            if let Some(kind) = reply.content_type.and_then(|kind| HeaderValue::from_str(&kind).ok()) {
                response.headers_mut().insert(header::CONTENT_TYPE, kind);
            }
            insert(&mut response, cors);
            for (name, value) in reply.headers {
                if let Ok(value) = HeaderValue::from_str(&value) {
                    response.headers_mut().insert(name, value);
                }
            }
            response
        }
        Some(Answer::Stream(connection)) => {
            let mut response = Response::new(Body::from_stream(connection.into_body()));
            insert_all(&mut response, core::STREAM_HEADERS);
            insert(&mut response, cors);
            response
        }
        None => {
            plain(StatusCode::INTERNAL_SERVER_ERROR, "standin: the request was dropped without an answer")
        }
    }
}

fn preflight(lane: &Lane, parts: &axum::http::request::Parts) -> Response<Body> {
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

fn refuse(lane: &Lane, parts: &axum::http::request::Parts, refusal: Refusal) -> Response<Body> {
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
    text(headers, name).map(|directory| decode(&directory))
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}
