//! What a request to the cloud gets, and what is written of it.

use super::calls::CallEnd;
use super::{Answer, Bearer, Call, NOTIFICATIONS, Options, Place};
use crate::clock::Clock;
use crate::http::wire::Wire;
use crate::journal::Journal;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use fixtures::recording::{Body as KeptBody, End, HowEnded, Line, Note, Request, Response as KeptResponse};
use fixtures::redact::keep_header;
use futures_util::stream;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// What both doors share.
pub(super) struct Desk {
    options: Options,
    journal: Journal,
    clock: Clock,
    elsewhere: SocketAddr,
    state: Mutex<Ledger>,
    /// Milliseconds to which it is wound, if its time passes so.
    wound_ms: watch::Sender<u64>,
}

#[derive(Default)]
struct Ledger {
    answers: VecDeque<Answer>,
    calls: Vec<Call>,
}

impl Desk {
    pub(super) fn new(options: Options, journal: Journal, elsewhere: SocketAddr) -> Self {
        let clock = Clock::new(options.clock);
        let state = Ledger { answers: options.answers.clone().into(), calls: Vec::new() };
        Self { options, journal, clock, elsewhere, state: Mutex::new(state), wound_ms: watch::Sender::new(0) }
    }

    fn state(&self) -> MutexGuard<'_, Ledger> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    pub(super) fn answer_with(&self, answers: Vec<Answer>) {
        self.state().answers = answers.into();
    }

    /// The next answer; the last one stays.
    fn next_answer(&self) -> Answer {
        let answers = &mut self.state().answers;
        if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() }.unwrap_or_default()
    }

    /// Lets its own time pass.
    pub(super) fn wind(&self, ms: u64) {
        self.wound_ms.send_modify(|wound| *wound += ms);
    }

    /// Waits by its own time.
    async fn wait(&self, ms: u64) {
        if !self.options.is_wound {
            return self.clock.wait(Duration::from_millis(ms)).await;
        }
        let mut wound = self.wound_ms.subscribe();
        let due = *wound.borrow() + ms;
        // Who is gone winds nothing any more: it waits for ever, as it would.
        let _gone = wound.wait_for(|wound| *wound >= due).await;
    }

    fn news(&self) -> Value {
        self.options.shape.news()
    }

    /// Writes down that a call came. What it carries is not kept, but for headers that are no secret.
    fn begin(self: &Arc<Self>, place: Place, request: &HttpRequest, answer: &str) -> Going {
        let headers = request.headers();
        let authorization = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes());
        let bearer = Bearer::of(authorization, &self.options.token);
        let is_head = request.method() == Method::HEAD;
        let token = self.options.token.as_str();
        let holds = |bytes: &[u8]| !token.is_empty() && String::from_utf8_lossy(bytes).contains(token);
        let is_bearer = |name: &HeaderName| *name == header::AUTHORIZATION && bearer == Bearer::Right;
        let beside = holds(request.uri().to_string().as_bytes())
            || headers.iter().any(|(name, value)| !is_bearer(name) && holds(value.as_bytes()));
        // Nothing that is kept has the token in it.
        let without =
            |text: &str| if token.is_empty() { text.to_owned() } else { text.replace(token, "[token]") };
        let (method, path) = (request.method().to_string(), without(request.uri().path()));
        let number = {
            let calls = &mut self.state().calls;
            let number = u64::try_from(calls.len()).unwrap_or(u64::MAX).saturating_add(1);
            calls.push(Call {
                number,
                place,
                method: method.clone(),
                path: path.clone(),
                bearer,
                beside,
                says_json: says_json(headers),
                answer: answer.to_owned(),
                end: None,
            });
            number
        };
        let kept = headers.iter().filter(|(name, _)| keep_header(name.as_str()));
        let headers =
            kept.map(|(name, value)| (name.to_string(), without(&String::from_utf8_lossy(value.as_bytes()))));
        let (headers, lane) = (headers.collect(), Some(place.word().to_owned()));
        let query = without(request.uri().query().unwrap_or_default());
        self.journal.push(|at_us| {
            let body = KeptBody::Empty;
            Line::Request(Request { at_us, exchange: number, lane, method, path, query, headers, body })
        });
        let text = format!("call {number} to {}: its bearer is {}", place.word(), bearer.word());
        self.journal.push(|at_us| Line::Note(Note { at_us, text }));
        Going { desk: self.clone(), number, since_us: self.clock.elapsed_us(), is_whole: false, is_head }
    }
}

fn says_json(headers: &HeaderMap) -> bool {
    let named = [header::ACCEPT, header::CONTENT_TYPE].map(|name| headers.get(name));
    named
        .into_iter()
        .flatten()
        .any(|value| value.to_str().is_ok_and(|value| value.contains("application/json")))
}

/// A call that goes on. When it is dropped the call is over: the client has everything, or has left.
struct Going {
    desk: Arc<Desk>,
    number: u64,
    since_us: u64,
    is_whole: bool,
    /// It is asked for a head alone.
    is_head: bool,
}

impl Going {
    /// The client has everything.
    fn ends(mut self) {
        self.is_whole = true;
    }

    fn answered(&self, status: StatusCode) {
        let (exchange, status) = (self.number, status.as_u16());
        let (headers, body) = (Vec::new(), KeptBody::Empty);
        self.desk
            .journal
            .push(|at_us| Line::Response(KeptResponse { at_us, exchange, status, headers, body }));
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let after_us = self.desk.clock.elapsed_us().saturating_sub(self.since_us);
        let end = CallEnd { after_ms: after_us / 1000, left: !self.is_whole };
        let place = usize::try_from(self.number).unwrap_or(usize::MAX) - 1;
        let call = self.desk.state().calls.get_mut(place).map(|call| {
            call.end = Some(end);
            call.clone()
        });
        let how = if self.is_whole { HowEnded::ClosedByServer } else { HowEnded::ClosedByClient };
        let exchange = self.number;
        self.desk.journal.push(|at_us| Line::End(End { at_us, exchange, how }));
        if let Some(call) = call {
            (self.desk.options.on_call)(&call);
        }
    }
}

#[derive(Clone)]
struct Door {
    desk: Arc<Desk>,
    place: Place,
}

/// The routes of a door.
pub(super) fn router(desk: Arc<Desk>, place: Place) -> Router {
    let router = match place {
        Place::Cloud => Router::new()
            .route("/standin/calls", get(tell_calls))
            .route("/standin/answers", post(take_answers)),
        Place::Elsewhere => Router::new(),
    };
    router.fallback(receive).with_state(Door { desk, place })
}

async fn tell_calls(State(door): State<Door>) -> Json<Vec<Call>> {
    Json(door.desk.calls())
}

async fn take_answers(State(door): State<Door>, Json(words): Json<Vec<String>>) -> Response {
    match words.iter().map(|word| word.parse()).collect::<Result<Vec<Answer>, String>>() {
        Ok(answers) if answers.contains(&Answer::Refuse) => {
            let error = "'refuse' is for a cloud that begins so: start it with --answer refuse";
            (StatusCode::BAD_REQUEST, Json(json!({"error": error}))).into_response()
        }
        Ok(answers) => {
            door.desk.answer_with(answers);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(error) => (StatusCode::BAD_REQUEST, Json(json!({"error": error}))).into_response(),
    }
}

async fn receive(
    State(Door { desk, place }): State<Door>,
    ConnectInfo(wire): ConnectInfo<Wire>,
    request: HttpRequest,
) -> Response {
    let refused = |status: StatusCode, words: &str| {
        let going = desk.begin(place, &request, &format!("status={}", status.as_u16()));
        whole(going, status, json!({"error": words}).to_string().into())
    };
    if request.uri().path() != NOTIFICATIONS {
        return refused(StatusCode::NOT_FOUND, "not found");
    }
    if request.method() != Method::GET {
        return refused(StatusCode::METHOD_NOT_ALLOWED, "method not allowed");
    }
    if place == Place::Elsewhere {
        let going = desk.begin(place, &request, "news");
        let news = desk.news().to_string();
        return whole(going, StatusCode::OK, news.into());
    }
    let authorization = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    let answer = desk.next_answer();
    // What breaks breaks for everybody; the news are for who has the token.
    if answer == Answer::News && Bearer::of(authorization, &desk.options.token) != Bearer::Right {
        return refused(StatusCode::UNAUTHORIZED, "unauthorized");
    }
    let going = desk.begin(place, &request, &answer.to_string());
    perform(answer, going, &desk, &wire).await
}

async fn perform(answer: Answer, going: Going, desk: &Desk, wire: &Wire) -> Response {
    let news = || Bytes::from(desk.news().to_string());
    let ok = StatusCode::OK;
    match answer {
        Answer::News | Answer::Refuse => whole(going, ok, news()),
        Answer::Silent => silence(going).await,
        Answer::Late { ms } => {
            desk.wait(ms).await;
            whole(going, ok, news())
        }
        Answer::Drip { ms } => drip(going, &news(), ms),
        Answer::Reset => {
            wire.reset();
            reset(going)
        }
        Answer::Status(code) => {
            let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            // Whoever does not look at the status reads news.
            let mut body = desk.news();
            body["error"] = json!("told to fail");
            whole(going, status, body.to_string().into())
        }
        Answer::Html => {
            let page =
                Bytes::from_static(b"<!DOCTYPE html>\n<title>Sign in</title>\n<p>Please sign in.</p>\n");
            let mut response = whole(going, ok, page);
            let kind = header::HeaderValue::from_static("text/html; charset=utf-8");
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
            response
        }
        Answer::Truncated => {
            let news = news();
            whole(going, ok, news.slice(..news.len() / 2))
        }
        Answer::Cut => cut(going, &news()),
        Answer::Redirect => {
            let location = format!("http://{}{NOTIFICATIONS}", desk.elsewhere);
            let mut response = whole(going, StatusCode::FOUND, Bytes::new());
            if let Ok(location) = location.parse() {
                response.headers_mut().insert(header::LOCATION, location);
            }
            response
        }
        Answer::Huge => whole(going, ok, desk.options.shape.huge().to_string().into()),
        Answer::Body(text) => whole(going, ok, text.into()),
    }
}

const JSON: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/json")];

/// As much as HTTP is given at once.
const PIECE: usize = 64 * 1024;

/// A whole answer; the call is over when HTTP has taken its last piece.
fn whole(going: Going, status: StatusCode, bytes: Bytes) -> Response {
    going.answered(status);
    let length = bytes.len();
    // HTTP never asks for a body that it does not send.
    let sends_none = going.is_head || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if bytes.is_empty() || sends_none {
        going.ends();
        return (status, JSON, Body::from(bytes)).into_response();
    }
    let body = stream::unfold((going, bytes), |(mut going, mut left)| async move {
        let piece = left.split_to(left.len().min(PIECE));
        going.is_whole = left.is_empty();
        (!piece.is_empty()).then(|| (Ok::<_, Told>(piece), (going, left)))
    });
    let length = (header::CONTENT_LENGTH, length.to_string());
    (status, JSON, [length], Body::from_stream(body)).into_response()
}

/// Until the client leaves: then HTTP drops the call.
async fn silence(going: Going) -> Response {
    let _going = going;
    std::future::pending().await
}

#[derive(Debug, thiserror::Error)]
#[error("the answer is told to break")]
struct Told;

/// The cloud itself ends a call that it breaks. HTTP drops what it has not flushed when a body fails: of an answer that
/// fails at once nothing leaves.
fn reset(going: Going) -> Response {
    going.ends();
    Body::from_stream(stream::once(async { Err::<Bytes, _>(Told) })).into_response()
}

fn cut(going: Going, news: &Bytes) -> Response {
    going.answered(StatusCode::OK);
    going.ends();
    let body = stream::unfold(Some(news.slice(..news.len() / 2)), |first| async move {
        match first {
            Some(bytes) if !bytes.is_empty() => Some((Ok(bytes), Some(Bytes::new()))),
            _ => {
                // Giving way once lets HTTP flush what came first.
                tokio::task::yield_now().await;
                Some((Err(Told), None))
            }
        }
    });
    (JSON, Body::from_stream(body)).into_response()
}

/// A byte at a time, for as long as somebody reads.
fn drip(going: Going, news: &Bytes, every_ms: u64) -> Response {
    going.answered(StatusCode::OK);
    let body = stream::unfold((going, news.clone()), move |(going, mut left)| async move {
        if left.is_empty() {
            going.ends();
            return None;
        }
        going.desk.wait(every_ms).await;
        let byte = left.split_to(1);
        Some((Ok::<_, Told>(byte), (going, left)))
    });
    (JSON, Body::from_stream(body)).into_response()
}
