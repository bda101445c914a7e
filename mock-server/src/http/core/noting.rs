//! What the journal is told of requests and answers.

use super::Core;
use crate::performer::WireReply;
use axum::http::request::Parts;
use axum::http::{HeaderName, header};
use fixtures::recording::{Line, Request, Response};
use fixtures::redact::keep_header;
use std::sync::Arc;

impl Core {
    pub(crate) fn note_request(&self, lane: &Arc<str>, parts: &Parts, exchange: u64, body: &[u8]) {
        let kept = parts.headers.iter().filter(|(name, _)| keep_header(name.as_str()));
        let headers = kept
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect();
        let request = Request {
            at_us: 0,
            exchange,
            lane: Some(lane.to_string()),
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            query: without_token(parts.uri.query().unwrap_or_default()),
            headers,
            body: self.journal.body(body),
        };
        self.journal.push(|at_us| Line::Request(Request { at_us, ..request }));
    }

    pub(crate) fn note_reply(&self, exchange: u64, reply: &WireReply, headers: &[(HeaderName, String)]) {
        let kind = reply.content_type.iter().map(|kind| (header::CONTENT_TYPE, kind.clone()));
        let own = reply
            .headers
            .iter()
            .filter_map(|(name, value)| Some((HeaderName::try_from(&**name).ok()?, value.clone())));
        let headers: Vec<_> = kind.chain(headers.iter().cloned()).chain(own).collect();
        self.note_answer(exchange, reply.status, &headers, &reply.body);
    }

    pub(crate) fn note_answer(
        &self,
        exchange: u64,
        status: u16,
        headers: &[(HeaderName, String)],
        body: &[u8],
    ) {
        let (headers, body) = (told(headers).collect(), self.journal.body(body));
        self.journal.push(|at_us| Line::Response(Response { at_us, exchange, status, headers, body }));
    }
}

pub(super) fn told(headers: &[(HeaderName, String)]) -> impl Iterator<Item = (String, String)> {
    headers.iter().map(|(name, value)| (name.to_string(), value.clone()))
}

pub(super) fn owned(headers: &[(&str, &str)]) -> impl Iterator<Item = (String, String)> {
    headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()))
}

/// Credentials travel in the query too; they do not reach a journal.
fn without_token(query: &str) -> String {
    let kept: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("auth_token=")).collect();
    kept.join("&")
}
