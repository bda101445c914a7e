//! How the harness's eyes and the reference adapter reach a server: over sockets, or in memory where time is virtual.

use bytes::Bytes;
use fixtures::sse;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde_json::Value;
use std::collections::VecDeque;

/// A request.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// `GET`, `POST` or `DELETE`.
    pub method: &'static str,
    /// Where the server is, as `http://127.0.0.1:4096`.
    pub server: String,
    /// Path and query.
    pub path: String,
    /// Name and password.
    pub credentials: Option<(String, String)>,
    /// The type of answer that is wanted.
    pub accept: Option<&'static str>,
    /// The page that asks.
    pub origin: Option<&'static str>,
    /// JSON.
    pub body: Option<Value>,
}

/// The head of an answer, and its body as it comes.
pub struct Answered {
    /// The status.
    pub status: u16,
    /// What `retry-after` says.
    pub retry_after: Option<RetryAfter>,
    /// The bytes; an error is how the body broke.
    pub body: BoxStream<'static, Result<Bytes, String>>,
}

/// When a server wants to be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryAfter {
    /// So many seconds after its answer.
    pub seconds: u64,
    /// It has said so by a date. Dates have no parts of seconds, so that it may be up to one less.
    pub by_date: bool,
}

impl RetryAfter {
    /// What the header says, in an answer that says its own date.
    #[must_use]
    pub fn of(value: &str, date: Option<&str>) -> Option<Self> {
        if let Ok(seconds) = value.trim().parse() {
            return Some(Self { seconds, by_date: false });
        }
        let (wanted, said) = (httpdate::parse_http_date(value).ok()?, httpdate::parse_http_date(date?).ok()?);
        let seconds = wanted.duration_since(said).unwrap_or_default().as_secs();
        Some(Self { seconds, by_date: true })
    }
}

/// A way to servers.
pub trait Net: Send + Sync {
    /// Sends a request and waits for the head of its answer; an error says why there is none.
    fn send(&self, ask: Ask) -> BoxFuture<'static, Result<Answered, String>>;
}

impl Answered {
    /// The whole body as a text.
    pub async fn text(mut self) -> Result<String, String> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.body.next().await {
            bytes.extend_from_slice(&chunk?);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The events of the body.
    pub fn events(self, bytes: fn(&[u8]) -> Vec<u8>) -> Events {
        Events { body: self.body, bytes, parser: sse::Parser::new(), ready: VecDeque::new() }
    }
}

/// What comes on an event stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A whole event: the text of its `data`.
    Event(String),
    /// Bytes that are no event, or not yet a whole one.
    Alive,
    /// It ended, in these words.
    Ended(String),
}

/// The events of an answer.
pub struct Events {
    body: BoxStream<'static, Result<Bytes, String>>,
    bytes: fn(&[u8]) -> Vec<u8>,
    parser: sse::Parser,
    ready: VecDeque<sse::Frame>,
}

impl Events {
    /// What comes next.
    pub async fn next(&mut self) -> News {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return News::Event(frame.data);
            }
            match self.body.next().await {
                Some(Ok(chunk)) => {
                    self.ready.extend(self.parser.feed(&(self.bytes)(&chunk)));
                    if self.ready.is_empty() {
                        return News::Alive;
                    }
                }
                None if self.parser.is_mid_frame() => {
                    return News::Ended("closed in the middle of an event".to_owned());
                }
                None => return News::Ended("closed by the server".to_owned()),
                Some(Err(why)) => return News::Ended(why),
            }
        }
    }
}

/// Sockets.
pub struct Web(reqwest::Client);

impl Web {
    /// A client of its own. No proxy: the servers are on this machine, whatever the environment says. No redirects: none
    /// is expected.
    pub fn new() -> Result<Self, reqwest::Error> {
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        client.build().map(Self)
    }
}

impl Net for Web {
    fn send(&self, ask: Ask) -> BoxFuture<'static, Result<Answered, String>> {
        let Ask { method, server, path, credentials, accept, origin, body } = ask;
        let method = match method {
            "POST" => reqwest::Method::POST,
            "DELETE" => reqwest::Method::DELETE,
            _ => reqwest::Method::GET,
        };
        // Without a server there is no address: it fails when it is sent, and the failure is told like any other.
        let mut request = self.0.request(method, format!("{}{path}", server.trim_end_matches('/')));
        if let Some((user, password)) = credentials {
            request = request.basic_auth(user, Some(password));
        }
        if let Some(kind) = accept {
            request = request.header("accept", kind);
        }
        if let Some(page) = origin {
            request = request.header("origin", page);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        Box::pin(async move {
            let response = request.send().await.map_err(|error| told(&error))?;
            let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
            let retry_after = header("retry-after").and_then(|value| RetryAfter::of(value, header("date")));
            let status = response.status().as_u16();
            let body = response.bytes_stream().map(|chunk| chunk.map_err(|error| told(&error))).boxed();
            Ok(Answered { status, retry_after, body })
        })
    }
}

/// An error and its causes in one line; reqwest keeps the useful part in the causes.
fn told(error: &reqwest::Error) -> String {
    let mut told = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        told = format!("{told}: {inner}");
        cause = inner.source();
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_names_the_time_in_seconds_or_by_a_date_that_is_held_against_its_own() {
        let (now, later) = (Some("Sun, 06 Nov 1994 08:49:37 GMT"), "Sun, 06 Nov 1994 08:50:07 GMT");
        let asked = |value, date| RetryAfter::of(value, date).map(|asked| (asked.seconds, asked.by_date));
        assert_eq!(asked("3", None), Some((3, false)));
        assert_eq!(asked(later, now), Some((30, true)));
        assert_eq!(asked("Sun, 06 Nov 1994 08:00:00 GMT", now), Some((0, true)), "it has passed");
        assert_eq!((asked(later, None), asked("soon", now)), (None, None));
    }
}
