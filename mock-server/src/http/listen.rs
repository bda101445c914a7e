//! Connections to a lane: what the real servers' HTTP takes and what it ends, below any route.

use super::Lane;
use super::leaving::{Endless, Watched};
use crate::clock::Clock;
use axum::body::{Body, HttpBody as _};
use axum::http::{Method, Request, Response, StatusCode, Version, header};
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The longest head of a request, and how many headers it may have.
const HEAD_MAX_BYTES: usize = 16 * 1024;
const HEADERS_MAX: usize = 198;
/// How long a new connection may be without a request. One that has had a request may wait as long as it likes.
const PATIENCE: Duration = Duration::from_secs(12);
/// How long no connection is taken after one could not be: whoever runs out of descriptors gets some back in time.
const PAUSE: Duration = Duration::from_millis(100);

/// The methods that there are; with any other a request is no HTTP to the real servers.
const METHODS: &[&str] = &[
    "ACL",
    "BIND",
    "CHECKOUT",
    "COPY",
    "LINK",
    "LOCK",
    "M-SEARCH",
    "MERGE",
    "MKACTIVITY",
    "MKCALENDAR",
    "MKCOL",
    "MOVE",
    "NOTIFY",
    "PROPFIND",
    "PROPPATCH",
    "PURGE",
    "QUERY",
    "REBIND",
    "REPORT",
    "SEARCH",
    "SOURCE",
    "SUBSCRIBE",
    "UNBIND",
    "UNLINK",
    "UNLOCK",
    "UNSUBSCRIBE",
];

/// Takes connections until it is to close, and brings those that are open to their end. Who drops it breaks them.
pub(crate) async fn serve(listener: TcpListener, lane: Lane, mut closing: watch::Receiver<bool>) {
    let mut open = tokio::task::JoinSet::new();
    let again = closing.clone();
    loop {
        tokio::select! {
            () = closes(&mut closing) => break,
            taken = listener.accept() => match taken {
                Ok((stream, _)) => {
                    open.spawn(connection(stream, lane.clone(), again.clone()));
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(_) => lane.core.clock.pass(PAUSE).await,
            },
            Some(_) = open.join_next() => {}
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

/// Waits until it is said; who is dropped says nothing.
async fn closes(closing: &mut watch::Receiver<bool>) {
    if closing.wait_for(|closes| *closes).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Did only the peer fail?
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn connection(stream: TcpStream, lane: Lane, mut closing: watch::Receiver<bool>) {
    // Frames are small, and each is to leave at once.
    stream.set_nodelay(true).ok();
    let (asked, endless) = (AtomicBool::new(false), Endless::default());
    let clock: Arc<Clock> = lane.core.clock.clone();
    let stream = Watched::new(stream, endless.clone());
    let service = service_fn(|request: Request<Incoming>| {
        asked.store(true, Ordering::Relaxed);
        endless.set(false);
        let (lane, endless) = (lane.clone(), endless.clone());
        // In a box, since it is long, and gone while its answer is sent.
        Box::pin(async move {
            let answer = answer(lane, request).await;
            endless.set(answer.size_hint().exact().is_none());
            Ok::<_, Infallible>(answer)
        })
    });
    let mut serving = pin!(
        http1::Builder::new()
            // Who has said all that he has to say still wants an answer.
            .half_close(true)
            .max_buf_size(HEAD_MAX_BYTES)
            .max_headers(HEADERS_MAX)
            .serve_connection(TokioIo::new(stream), service)
    );
    let (mut patience, mut is_new) = (pin!(clock.pass(PATIENCE)), true);
    loop {
        tokio::select! {
            // How a connection ends has nobody to be told to.
            _ = &mut serving => return,
            () = closes(&mut closing) => break,
            () = &mut patience, if is_new => {
                is_new = false;
                if !asked.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    }
    serving.as_mut().graceful_shutdown();
    let _ = serving.await;
}

async fn answer(lane: Lane, request: Request<Incoming>) -> Response<Body> {
    match fault_of(&request) {
        None => super::handle(lane, request.map(Body::new)).await,
        Some(status) => refused(status),
    }
}

/// What the real servers' HTTP does not take.
fn fault_of(request: &Request<Incoming>) -> Option<StatusCode> {
    let headers = request.headers();
    let is_nameless = request.version() == Version::HTTP_11 && !headers.contains_key(header::HOST);
    let is_ambiguous =
        headers.contains_key(header::CONTENT_LENGTH) && headers.contains_key(header::TRANSFER_ENCODING);
    let has_no_path = !request.uri().path().starts_with('/');
    if is_nameless || is_ambiguous || has_no_path || !is_method(request.method()) {
        return Some(StatusCode::BAD_REQUEST);
    }
    let expects = headers.get(header::EXPECT).map(|expected| expected.as_bytes());
    let is_expected = expects.is_none_or(|expected| expected.eq_ignore_ascii_case(b"100-continue"));
    (!is_expected).then_some(StatusCode::EXPECTATION_FAILED)
}

fn is_method(method: &Method) -> bool {
    let usual = [
        Method::GET,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::HEAD,
        Method::OPTIONS,
        Method::TRACE,
    ];
    usual.contains(method) || METHODS.contains(&method.as_str())
}

/// A connection on which somebody does not speak HTTP is over.
pub(super) fn refused(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::from(Bytes::new()));
    *response.status_mut() = status;
    if status == StatusCode::BAD_REQUEST {
        response.headers_mut().insert(header::CONNECTION, axum::http::HeaderValue::from_static("close"));
    }
    response
}
