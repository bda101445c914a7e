//! A client that keeps what it sends and receives. What stands on the tape is what crossed the wire: no redirects
//! are followed, no proxy stands between, nothing is sent twice.

use crate::events::{EventStream, how_broken};
use crate::tape::Tape;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use fixtures::fault_plan::StreamName;
use fixtures::recording::{Body, End, Line, Request, Response};
use fixtures::redact::{clean, keep_header};
use fixtures::scenario::{RawRequest, RequestBody, Sender};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use serde_json::Value;
use std::fmt;

pub use reqwest::Method;

/// What a server asks for before it answers.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user.
    pub user: String,
    /// The password; never shown.
    pub password: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({}, hidden)", self.user)
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The client could not be made, or the request not be built.
    #[error("{request} could not be made: {}", causes(.source))]
    Request {
        /// Method and path.
        request: String,
        /// Why.
        source: reqwest::Error,
    },
    /// No head of a response arrived.
    #[error("{request} was not answered: {}", causes(.source))]
    NoAnswer {
        /// Method and path.
        request: String,
        /// Why.
        source: reqwest::Error,
    },
    /// The body broke off.
    #[error("the answer to {request} broke off after {received} bytes: {}", causes(.source))]
    Broken {
        /// Method and path.
        request: String,
        /// How much of the body arrived.
        received: usize,
        /// Why.
        source: reqwest::Error,
    },
    /// A stream was asked for, and something else came.
    #[error("{request} answered {status}, not a stream of events")]
    NoStream {
        /// Method and path.
        request: String,
        /// The status.
        status: u16,
    },
}

/// An error with all its causes: reqwest's own words alone never say what happened. They may quote an address with a
/// password or a token in it.
pub(crate) fn causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    clean(&text)
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// Those of its headers that may be kept.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub bytes: Bytes,
}

impl Reply {
    /// The body as JSON, if it is JSON.
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.bytes).ok()
    }

    /// A header, if it may be kept.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Is the status 2xx?
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Where the body of an answer is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeepBody {
    /// On the tape.
    OnTape,
    /// By the caller alone.
    Apart,
}

/// A client of one server. Clones are the same client.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    credentials: Credentials,
    tape: Tape,
}

impl Client {
    /// A client of the server at `url` (`http://127.0.0.1:PORT`) that keeps everything on `tape`.
    pub fn new(url: &str, credentials: Credentials, tape: Tape) -> Result<Self, CaptureError> {
        // A connection for each exchange: one that the server closes while it is idle can't fail the next request.
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .build()
            .map_err(|source| CaptureError::Request {
                request: clean(&format!("a client of {url}")),
                source: source.without_url(),
            })?;
        Ok(Self { http, url: url.trim_end_matches('/').to_owned(), credentials, tape })
    }

    /// The tape on which this client writes.
    #[must_use]
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// Sends a request and keeps it and its answer. `query` is written as it is sent, without the question mark.
    pub async fn exchange(
        &self,
        method: Method,
        path: &str,
        query: &str,
        body: Option<&Value>,
    ) -> Result<Reply, CaptureError> {
        self.exchange_keeping(method, path, query, body, KeepBody::OnTape).await
    }

    /// Sends a request in a person's own words, and keeps it and its answer. Only what a header can't say is an error.
    pub async fn exchange_raw(&self, request: &RawRequest) -> Result<Reply, CaptureError> {
        let method = Method::from_bytes(request.method.as_bytes()).unwrap_or_default();
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let query = match request.sender {
            Sender::Token => {
                let word = format!("{}:{}", self.credentials.user, self.credentials.password);
                let token =
                    format!("auth_token={}", utf8_percent_encode(&STANDARD.encode(word), NON_ALPHANUMERIC));
                if query.is_empty() { token } else { format!("{query}&{token}") }
            }
            _ => query.to_owned(),
        };
        let mut builder = self.builder(&method, path, &query);
        builder = match request.sender {
            Sender::Owner => builder.basic_auth(&self.credentials.user, Some(&self.credentials.password)),
            Sender::Stranger => builder.basic_auth(&self.credentials.user, Some("not-the-password")),
            Sender::Nobody | Sender::Token => builder,
        };
        let has = |name: &str| request.headers.keys().any(|known| known.eq_ignore_ascii_case(name));
        if !has("accept") {
            builder = builder.header(ACCEPT, "application/json");
        }
        let body = match &request.body {
            RequestBody::Nothing => None,
            RequestBody::Json(json) => Some(json.to_string()),
            RequestBody::Text(text) => Some(text.clone()),
        };
        if let Some(body) = body {
            if !has("content-type") {
                builder = builder.header(CONTENT_TYPE, "application/json");
            }
            builder = builder.body(body);
        }
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        let described = clean(&format!("{method} {path}"));
        let (exchange, response) = self.send(&described, builder).await?;
        self.keep_answer(&described, exchange, response, KeepBody::OnTape).await
    }

    /// As [`Client::exchange`], but the body of the answer stays off the tape: for one that is kept in a file of
    /// its own.
    pub async fn exchange_apart(
        &self,
        method: Method,
        path: &str,
        query: &str,
    ) -> Result<Reply, CaptureError> {
        self.exchange_keeping(method, path, query, None, KeepBody::Apart).await
    }

    async fn exchange_keeping(
        &self,
        method: Method,
        path: &str,
        query: &str,
        body: Option<&Value>,
        keep: KeepBody,
    ) -> Result<Reply, CaptureError> {
        let request = clean(&format!("{method} {path}"));
        let builder = self.plain(&method, path, query, body, "application/json");
        let (exchange, response) = self.send(&request, builder).await?;
        self.keep_answer(&request, exchange, response, keep).await
    }

    async fn keep_answer(
        &self,
        request: &str,
        exchange: u64,
        mut response: reqwest::Response,
        keep: KeepBody,
    ) -> Result<Reply, CaptureError> {
        let (status, headers) = (response.status().as_u16(), kept(response.headers()));
        let mut bytes = BytesMut::new();
        let broken = loop {
            match response.chunk().await {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) => break None,
                Err(source) => break Some(source),
            }
        };
        let bytes = bytes.freeze();
        let body = match keep {
            KeepBody::OnTape => Body::from_bytes(&bytes),
            KeepBody::Apart => Body::Empty,
        };
        let told = headers.clone();
        self.tape.push(|at_us| Line::Response(Response { at_us, exchange, status, headers: told, body }));
        match broken {
            None => Ok(Reply { status, headers, bytes }),
            Some(source) => {
                let how = how_broken(&source);
                self.tape.push(|at_us| Line::End(End { at_us, exchange, how }));
                let request = request.to_owned();
                Err(CaptureError::Broken { request, received: bytes.len(), source: source.without_url() })
            }
        }
    }

    /// Opens a stream; from now on its bytes are kept as they arrive.
    pub async fn subscribe(&self, stream: StreamName, query: &str) -> Result<EventStream, CaptureError> {
        self.subscribe_after(stream, query, None).await
    }

    /// The same, for one who says which event was the last that came.
    pub async fn subscribe_after(
        &self,
        stream: StreamName,
        query: &str,
        last: Option<&str>,
    ) -> Result<EventStream, CaptureError> {
        let (exchange, response) = self.open(stream, query, last).await?;
        Ok(EventStream::start(stream, exchange, response, self.tape.clone()))
    }

    /// Opens a stream whose bytes the caller keeps, under this number.
    pub(crate) async fn open(
        &self,
        stream: StreamName,
        query: &str,
        last: Option<&str>,
    ) -> Result<(u64, reqwest::Response), CaptureError> {
        let request = format!("GET {}", stream.path());
        let mut builder = self.plain(&Method::GET, stream.path(), query, None, "text/event-stream");
        if let Some(last) = last {
            builder = builder.header("last-event-id", last);
        }
        let (exchange, response) = self.send(&request, builder).await?;
        let (status, headers) = (response.status().as_u16(), kept(response.headers()));
        let is_stream = status == 200
            && response
                .headers()
                .get(CONTENT_TYPE)
                .is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"));
        // What comes instead of a stream may have no end either, so its body is left where it is.
        self.tape
            .push(|at_us| Line::Response(Response { at_us, exchange, status, headers, body: Body::Empty }));
        if !is_stream {
            return Err(CaptureError::NoStream { request, status });
        }
        Ok((exchange, response))
    }

    fn builder(&self, method: &Method, path: &str, query: &str) -> reqwest::RequestBuilder {
        let mark = if query.is_empty() { "" } else { "?" };
        self.http.request(method.clone(), format!("{}{path}{mark}{query}", self.url))
    }

    /// The owner's request.
    fn plain(
        &self,
        method: &Method,
        path: &str,
        query: &str,
        body: Option<&Value>,
        accept: &str,
    ) -> reqwest::RequestBuilder {
        let builder = self
            .builder(method, path, query)
            .basic_auth(&self.credentials.user, Some(&self.credentials.password))
            .header(ACCEPT, accept);
        match body {
            Some(body) => builder.header(CONTENT_TYPE, "application/json").body(body.to_string()),
            None => builder,
        }
    }

    /// Sends a request and keeps it; the number joins its lines.
    async fn send(
        &self,
        described: &str,
        builder: reqwest::RequestBuilder,
    ) -> Result<(u64, reqwest::Response), CaptureError> {
        let described = described.to_owned();
        let request = match builder.build() {
            Ok(request) => request,
            Err(source) => {
                return Err(CaptureError::Request { request: described, source: source.without_url() });
            }
        };
        let exchange = self.tape.next_exchange();
        self.tape.push(|at_us| {
            Line::Request(Request {
                at_us,
                exchange,
                lane: None,
                method: request.method().to_string(),
                path: request.url().path().to_owned(),
                query: request.url().query().unwrap_or_default().to_owned(),
                headers: kept(request.headers()),
                body: request.body().and_then(reqwest::Body::as_bytes).map_or(Body::Empty, Body::from_bytes),
            })
        });
        match self.http.execute(request).await {
            Ok(response) => Ok((exchange, response)),
            Err(source) => Err(CaptureError::NoAnswer { request: described, source: source.without_url() }),
        }
    }
}

/// The headers that may be kept, in the order of the wire.
fn kept(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .filter(|(name, _)| keep_header(name.as_str()))
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect()
}

#[cfg(test)]
mod tests;
