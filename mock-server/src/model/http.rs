//! The scripted model over HTTP, in the OpenAI dialect, for the real servers.
//!
//! Beside the two routes of the dialect there are two of our own, for whoever runs it as a program:
//! `POST /standin/gates/{name}` opens a gate, `GET /standin/report` tells what was not used and what was missing.

use super::chat::ChatRequest;
use super::gates::Gates;
use super::pages::PageServer;
use super::script::{Answer, Beat, Delta, Reply, Report, Script};
use super::wire;
use crate::clock::{Clock, ClockKind};
use crate::http::wire::Wire;
use crate::socket::Listener;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use fixtures::near_names::unknown;
use fixtures::scenario::{BreakOff, Fail};
use futures_util::stream::{self, Stream};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;

/// Told of every call and its answer; a recorder writes it down.
pub type OnCall = Arc<dyn Fn(&ChatRequest, &Answer) + Send + Sync>;

/// Where the servers say which session asks.
const SESSION_HEADERS: [&str; 3] = ["x-session-id", "x-session-affinity", "x-opencode-session"];

/// A scripted model that listens on a loopback port until it is dropped.
///
/// ```
/// use mock_server::model::{ModelOptions, ModelServer, Script};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let scenario = fixtures::catalog::scenario("text/plain")?;
/// let model = ModelServer::start(Script::new(scenario, "/workspace"), ModelOptions::default()).await?;
/// let models = reqwest::get(format!("{}/v1/models", model.url())).await?.text().await?;
/// assert!(models.contains("\"id\":\"fake\""));
/// assert_eq!(model.report().unused.len(), 1, "nobody has prompted yet");
/// # Ok(())
/// # }
/// ```
pub struct ModelServer {
    address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
    _pages: Option<PageServer>,
    shared: Arc<Shared>,
}

/// How the model behaves as a server.
pub struct ModelOptions {
    /// The port; 0 takes any free one.
    pub port: u16,
    /// How long the model thinks before each answer. What a server does meanwhile comes first then, and what it
    /// does at no fixed place shows.
    pub pause: Duration,
    /// Where answers wait.
    pub gates: Gates,
    /// Told of every call.
    pub on_call: OnCall,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { port: 0, pause: Duration::ZERO, gates: Gates::default(), on_call: Arc::new(|_, _| {}) }
    }
}

struct Shared {
    script: Mutex<Script>,
    pause: Duration,
    gates: Gates,
    clock: Clock,
    on_call: OnCall,
}

impl Shared {
    fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModelServer {
    /// Starts listening.
    pub async fn start(script: Script, options: ModelOptions) -> std::io::Result<Self> {
        let ModelOptions { port, pause, gates, on_call } = options;
        let pages = PageServer::start(script.pages()).await?;
        let script = script.with_pages_at(pages.as_ref().map(PageServer::url));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let clock = Clock::new(ClockKind::Real);
        let shared = Arc::new(Shared { script: Mutex::new(script), pause, gates, clock, on_call });
        let app = Router::new()
            .route("/v1/models", get(models))
            .route("/v1/chat/completions", post(completions))
            .route("/standin/report", get(report))
            .route("/standin/gates/{name}", post(open_gate))
            .with_state(shared.clone())
            .into_make_service_with_connect_info::<Wire>();
        let task = tokio::spawn(async move {
            // Serving ends with the task; an accept error has nobody to be told to.
            let _ = axum::serve(Listener(listener), app).await;
        });
        Ok(Self { address, task, _pages: pages, shared })
    }

    /// The address, without `/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was never asked for, and what was asked for in vain, so far.
    #[must_use]
    pub fn report(&self) -> Report {
        self.shared.script().report()
    }

    /// Where its answers wait.
    #[must_use]
    pub fn gates(&self) -> &Gates {
        &self.shared.gates
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn models() -> Json<Value> {
    Json(
        json!({"object": "list", "data": [{"id": "fake", "object": "model", "created": 0, "owned_by": "standin"}]}),
    )
}

async fn report(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let report = shared.script().report();
    Json(json!({"unused": report.unused, "unscripted": report.unscripted}))
}

async fn open_gate(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Response {
    let known = shared.script().gates();
    if !known.contains(&name) {
        let message = unknown("gate", &name, &known);
        return (StatusCode::NOT_FOUND, Json(json!({"error": message}))).into_response();
    }
    shared.gates.open(&name);
    StatusCode::NO_CONTENT.into_response()
}

async fn completions(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(wire): ConnectInfo<Wire>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request = serde_json::from_slice::<Value>(&body)
        .map_err(|error| format!("the request is not JSON: {error}"))
        .and_then(|body| ChatRequest::parse(&body));
    let mut request = match request {
        Ok(request) => request,
        Err(message) => return unscripted(&message),
    };
    request.session =
        SESSION_HEADERS.iter().find_map(|name| headers.get(*name)?.to_str().ok()).map(str::to_owned);
    let answer = shared.script().answer(&request);
    (shared.on_call)(&request, &answer);
    if !shared.pause.is_zero() {
        shared.clock.wait(shared.pause).await;
    }
    match answer.reply {
        Reply::Unscripted(message) => unscripted(&message),
        Reply::Refused(fail) => refuse(&fail),
        Reply::Beats(beats) => {
            let playing = Playing::new(beats, request.stream, shared.gates.clone(), wire);
            let kind = if request.stream { "text/event-stream" } else { "application/json" };
            ([(header::CONTENT_TYPE, kind)], Body::from_stream(playing.into_body())).into_response()
        }
    }
}

/// A call that the script does not know is an error that no server retries, in words that end up on the screen.
fn unscripted(message: &str) -> Response {
    (StatusCode::BAD_REQUEST, Json(wire::unscripted(message))).into_response()
}

fn refuse(fail: &Fail) -> Response {
    let status = StatusCode::from_u16(fail.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let (kind, body) = wire::refusal(fail);
    let mut response = (status, [(header::CONTENT_TYPE, kind)], body).into_response();
    if let Some(seconds) = fail.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    for (name, value) in &fail.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// The body breaks off; what HTTP makes of it is a body without its last chunk.
#[derive(Debug, thiserror::Error)]
#[error("the script breaks the answer off")]
struct BrokenOff;

/// What is left of an answer.
struct Playing {
    left: VecDeque<Piece>,
    gates: Gates,
    wire: Wire,
}

enum Piece {
    Bytes(Bytes),
    Gate(String),
    BreakOff(BreakOff),
}

impl Playing {
    fn new(beats: Vec<Beat>, as_stream: bool, gates: Gates, wire: Wire) -> Self {
        let left = if as_stream { streamed(beats) } else { in_one_piece(&beats) };
        Self { left, gates, wire }
    }

    fn into_body(self) -> impl Stream<Item = Result<Bytes, BrokenOff>> {
        stream::unfold(self, |mut playing| async move {
            let piece = playing.next().await?;
            Some((piece, playing))
        })
    }

    async fn next(&mut self) -> Option<Result<Bytes, BrokenOff>> {
        loop {
            match self.left.pop_front()? {
                Piece::Bytes(bytes) => return Some(Ok(bytes)),
                Piece::Gate(name) => self.gates.passed(&name).await,
                Piece::BreakOff(BreakOff::Clean) => return None,
                Piece::BreakOff(BreakOff::Stall) => std::future::pending().await,
                Piece::BreakOff(how) => {
                    if how == BreakOff::Reset {
                        self.wire.reset();
                    }
                    // HTTP drops what it has not flushed when a body fails; giving way once lets it flush first.
                    tokio::task::yield_now().await;
                    return Some(Err(BrokenOff));
                }
            }
        }
    }
}

fn streamed(beats: Vec<Beat>) -> VecDeque<Piece> {
    let mut left = VecDeque::from([Piece::Bytes(wire::opening())]);
    for beat in beats {
        match beat {
            Beat::Delta(delta) => {
                left.push_back(Piece::Bytes(wire::chunk(&delta)));
                if matches!(delta, Delta::Finish(_)) {
                    left.push_back(Piece::Bytes(wire::done()));
                }
            }
            Beat::Gate(name) => left.push_back(Piece::Gate(name)),
            Beat::Raw(bytes) => left.push_back(Piece::Bytes(Bytes::from(bytes))),
            Beat::BreakOff(how) => left.push_back(Piece::BreakOff(how)),
        }
    }
    left
}

/// All gates hold the one piece; an answer that breaks off does so in the middle of it.
fn in_one_piece(beats: &[Beat]) -> VecDeque<Piece> {
    let text = wire::whole(beats).to_string();
    let mut left: VecDeque<Piece> = VecDeque::new();
    let mut end = None;
    for beat in beats {
        match beat {
            Beat::Gate(name) => left.push_back(Piece::Gate(name.clone())),
            Beat::BreakOff(how) => end = Some(*how),
            Beat::Delta(_) | Beat::Raw(_) => {}
        }
    }
    match end {
        None => left.push_back(Piece::Bytes(Bytes::from(text))),
        Some(how) => {
            left.push_back(Piece::Bytes(Bytes::copy_from_slice(&text.as_bytes()[..text.len() / 2])));
            left.push_back(Piece::BreakOff(how));
        }
    }
    left
}

#[cfg(test)]
mod tests;
