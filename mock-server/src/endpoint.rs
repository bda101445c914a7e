//! An address that answers as a plan says, for programs that ask over HTTP and are no clients of a server that is played
//! here: what a provider, a sink or any other host would say, request by request.
//!
//! The first part of a path is the lane, and each lane has a plan of its own. Every request and answer is on the time
//! line; of an `authorization` only how long it is. An answer, or a part of one, may be held until it
//! is let go.

mod gates;

use crate::journal::Journal;
use axum::body::Body;
use axum::http::{HeaderMap, Request as HttpRequest, Response as HttpResponse};
use fixtures::recording::{Line, Request, Response};
use gates::Gates;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

/// A head that is longer is nobody's.
const LONGEST_HEAD: usize = 64 << 10;
/// So is a longer body.
const LONGEST_BODY: usize = 16 << 20;

/// What a request gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// An answer.
    Answer {
        /// Its status.
        status: u16,
        /// Its headers, beside the length.
        headers: Vec<(String, String)>,
        /// Its body.
        body: String,
    },
    /// The connection ends without one.
    HangUp,
    /// Another one, once a gate is open.
    Held {
        /// The name of the gate.
        gate: String,
        /// What comes then.
        reply: Box<Self>,
    },
    /// An event stream that comes piece by piece.
    Stream(Vec<Piece>),
}

/// A piece of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Bytes that are sent at once.
    Bytes(Vec<u8>),
    /// Nothing more comes until this gate is open.
    Gate(String),
}

impl Reply {
    /// An answer in JSON.
    #[must_use]
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self::Answer { status, headers, body: body.to_string() }
    }

    /// The same, held until a gate is open.
    #[must_use]
    pub fn held(self, gate: &str) -> Self {
        Self::Held { gate: gate.to_owned(), reply: Box::new(self) }
    }
}

/// Opens the gates of an address.
#[derive(Clone)]
pub struct Porter(Gates);

impl Porter {
    /// Lets go what is held by this gate, now and later.
    pub fn open(&self, gate: &str) {
        self.0.open(gate);
    }
}

/// An address that answers until it is dropped.
pub struct Endpoint {
    address: SocketAddr,
    desk: Arc<Desk>,
    task: AbortHandle,
}

struct Desk {
    journal: Journal,
    exchanges: AtomicU64,
    plans: Mutex<BTreeMap<String, Plan>>,
    gates: Gates,
}

#[derive(Default)]
struct Plan {
    replies: Vec<Reply>,
    asked: usize,
}

impl Endpoint {
    /// Starts listening on a loopback port of its own.
    ///
    /// # Errors
    /// The machine has no port.
    pub async fn start(journal: Journal) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (exchanges, plans, gates) = (AtomicU64::new(1), Mutex::default(), Gates::default());
        let desk = Arc::new(Desk { journal, exchanges, plans, gates });
        let at_door = desk.clone();
        let task = tokio::spawn(async move {
            let mut visitors = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let desk = at_door.clone();
                // Who leaves in the middle is told by what is missing on the time line.
                visitors.spawn(async move { desk.serve(stream).await.is_ok() });
                while visitors.try_join_next().is_some() {}
            }
        });
        Ok(Self { address, desk, task: task.abort_handle() })
    }

    /// The address of a lane.
    #[must_use]
    pub fn url(&self, lane: &str) -> String {
        format!("http://{}/{lane}", self.address)
    }

    /// How the next requests of a lane are answered; the last answer stays. A lane without a plan says `{}`.
    pub fn plan(&self, lane: &str, replies: Vec<Reply>) {
        self.desk.plans().insert(lane.to_owned(), Plan { replies, asked: 0 });
    }

    /// Who opens its gates.
    #[must_use]
    pub fn porter(&self) -> Porter {
        Porter(self.desk.gates.clone())
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Desk {
    fn plans(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Plan>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reply(&self, lane: &str) -> Reply {
        let mut plans = self.plans();
        let plan = plans.entry(lane.to_owned()).or_default();
        let reply = plan.replies.get(plan.asked).or(plan.replies.last());
        let reply = reply.cloned().unwrap_or_else(|| Reply::json(200, &serde_json::json!({})));
        plan.asked += 1;
        reply
    }

    async fn serve(&self, stream: TcpStream) -> hyper::Result<()> {
        let answers = service_fn(|request| self.answer(request));
        let mut http = http1::Builder::new();
        http.keep_alive(false).half_close(true).max_buf_size(LONGEST_HEAD);
        http.serve_connection(TokioIo::new(stream), answers).await
    }

    /// What a request gets. An error ends its connection without an answer.
    async fn answer(&self, request: HttpRequest<Incoming>) -> io::Result<HttpResponse<Body>> {
        let (head, body) = request.into_parts();
        let body = axum::body::to_bytes(Body::new(body), LONGEST_BODY).await.map_err(io::Error::other)?;
        let (path, query) = (head.uri.path().to_owned(), head.uri.query().unwrap_or_default().to_owned());
        let lane = path.trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
        let exchange = self.exchanges.fetch_add(1, Ordering::Relaxed);
        let kept = self.journal.body(&body);
        let (method, headers) = (head.method.to_string(), kept_headers(&head.headers));
        let of_lane = Some(lane.clone());
        self.journal.push(|at_us| {
            Line::Request(Request {
                at_us,
                exchange,
                lane: of_lane,
                method,
                path,
                query,
                headers,
                body: kept,
            })
        });
        let mut reply = self.reply(&lane);
        while let Reply::Held { gate, reply: then } = reply {
            self.gates.pass(&gate).await;
            reply = *then;
        }
        let (status, headers, body) = match reply {
            Reply::Answer { status, headers, body } => (status, headers, body),
            Reply::Stream(pieces) => return self.stream(exchange, pieces),
            Reply::HangUp | Reply::Held { .. } => return Err(io::Error::other("it is planned to hang up")),
        };
        let mut response = HttpResponse::builder().status(status);
        for (name, value) in &headers {
            response = response.header(name, value);
        }
        let response = response.body(Body::from(body.clone())).map_err(io::Error::other)?;
        let kept = self.journal.body(body.as_bytes());
        self.journal.push(|at_us| Line::Response(Response { at_us, exchange, status, headers, body: kept }));
        Ok(response)
    }

    fn stream(&self, exchange: u64, pieces: Vec<Piece>) -> io::Result<HttpResponse<Body>> {
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        let mut response = HttpResponse::builder().status(200);
        for (name, value) in &headers {
            response = response.header(name, value);
        }
        let body = self.journal.body(b"");
        self.journal.push(|at_us| Line::Response(Response { at_us, exchange, status: 200, headers, body }));
        let pieces = gates::body(self.gates.clone(), self.journal.clone(), exchange, pieces);
        response.body(Body::from_stream(pieces)).map_err(io::Error::other)
    }
}

/// The headers for the time line: what a connection is about is left out, and of an `authorization` its letters.
fn kept_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let told = headers.iter().map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())));
    let kept = told.filter(|(name, _)| !matches!(*name, "host" | "accept" | "connection"));
    kept.map(|(name, value)| match name {
        "authorization" => (name.to_owned(), format!("{} letters", value.len())),
        _ => (name.to_owned(), value.into_owned()),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, ClockKind};
    use serde_json::json;

    #[tokio::test]
    async fn each_lane_is_answered_by_its_plan_and_all_of_it_is_on_the_time_line() {
        let journal = Journal::new(Arc::new(Clock::new(ClockKind::Real)));
        let endpoint = Endpoint::start(journal.clone()).await.unwrap();
        endpoint.plan(
            "model",
            vec![Reply::json(503, &json!({"error": "later"})), Reply::HangUp, Reply::json(200, &json!(1))],
        );
        let client = reqwest::Client::new();
        let ask = |lane: &str| client.post(endpoint.url(lane)).bearer_auth("secret").body("{\"a\":1}").send();
        assert_eq!(ask("model").await.unwrap().status(), 503);
        assert!(ask("model").await.is_err(), "it hangs up");
        for _ in 0..2 {
            assert_eq!(ask("model").await.unwrap().text().await.unwrap(), "1", "the last answer stays");
        }
        assert_eq!(ask("other").await.unwrap().text().await.unwrap(), "{}");
        let lines = journal.lines();
        let requests = lines.iter().filter_map(|line| match line {
            Line::Request(request) => Some(request),
            _ => None,
        });
        let requests: Vec<&Request> = requests.collect();
        assert_eq!(requests.len(), 5);
        assert_eq!((requests[4].lane.as_deref(), requests[4].path.as_str()), (Some("other"), "/other"));
        assert_eq!(requests[0].body.json(), Some(json!({"a": 1})));
        assert!(requests[0].headers.contains(&("authorization".to_owned(), "13 letters".to_owned())));
        let answers = lines.iter().filter(|line| matches!(line, Line::Response(_))).count();
        assert_eq!(answers, 4, "nothing is answered by who hangs up");
    }

    #[tokio::test]
    async fn what_is_held_comes_when_it_is_let_go() {
        let journal = Journal::new(Arc::new(Clock::new(ClockKind::Real)));
        let endpoint = Endpoint::start(journal.clone()).await.unwrap();
        endpoint.plan("late", vec![Reply::json(200, &json!(1)).held("a").held("b")]);
        let pieces =
            [Piece::Bytes(b"one".to_vec()), Piece::Gate("c".to_owned()), Piece::Bytes(b"two".to_vec())];
        endpoint.plan("streams", vec![Reply::Stream(pieces.to_vec())]);
        let late = tokio::spawn(reqwest::get(endpoint.url("late")));
        let of = |lines: &[Line], lane: &str| {
            lines.iter().any(|line| matches!(line, Line::Request(it) if it.lane.as_deref() == Some(lane)))
        };
        journal.wait_until(|lines| of(lines, "late")).await;
        let mut streams = reqwest::get(endpoint.url("streams")).await.unwrap();
        assert_eq!(streams.chunk().await.unwrap().unwrap(), "one");
        assert_eq!(
            journal.lines().len(),
            4,
            "one request waits; of the stream there is its head and a piece"
        );
        endpoint.porter().open("c");
        assert_eq!(streams.chunk().await.unwrap().unwrap(), "two");
        assert_eq!(streams.chunk().await.unwrap(), None);
        endpoint.porter().open("b");
        endpoint.porter().open("a");
        assert_eq!(late.await.unwrap().unwrap().text().await.unwrap(), "1");
        assert!(matches!(journal.lines().last(), Some(Line::Response(_))), "{:?}", journal.lines());
    }

    #[tokio::test]
    async fn a_body_in_chunks_is_read_for_who_waits_until_it_is_wanted() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let journal = Journal::new(Arc::new(Clock::new(ClockKind::Real)));
        let endpoint = Endpoint::start(journal.clone()).await.unwrap();
        let mut client = TcpStream::connect(endpoint.address).await.unwrap();
        let head = "POST /sink HTTP/1.1\r\nhost: a\r\nuser-agent: probe/1\r\nexpect: 100-continue\r\n\
                    transfer-encoding: chunked\r\n\r\n";
        client.write_all(head.as_bytes()).await.unwrap();
        let mut wanted = [0; 25];
        client.read_exact(&mut wanted).await.unwrap();
        assert_eq!(wanted.as_slice(), b"HTTP/1.1 100 Continue\r\n\r\n");
        client.write_all(b"4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("{}"), "{answer}");
        let lines = journal.lines();
        let Some(Line::Request(request)) = lines.first() else { panic!("{lines:?}") };
        assert_eq!(request.body.json(), Some(json!({"a": 1})));
        assert!(request.headers.contains(&("user-agent".to_owned(), "probe/1".to_owned())));
    }
}
