//! Connections to a lane: what the real servers' HTTP takes and what it ends, below any route.

use super::doors::Shut;
use super::wire::{self, Socket};
use super::{Lane, Visitor};
use crate::clock::Clock;
use crate::screens::Guest;
use axum::body::{Body, HttpBody as _};
use axum::http::{Method, Request, Response, StatusCode, Version, header};
use bytes::Bytes;
use fixtures::fault_plan::action::DoorWord;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

/// The longest head of a request, and how many headers it may have.
const HEAD_MAX_BYTES: usize = 16 * 1024;
const HEADERS_MAX: usize = 198;
/// How long a new connection may be without a request. One that has had a request may wait as long as it likes.
const PATIENCE: Duration = Duration::from_secs(12);
/// How long an answer may take before it is looked whether anybody still waits for it.
const AT_ONCE: Duration = Duration::from_secs(1);
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
pub(crate) async fn serve(
    mut listener: TcpListener,
    lane: Lane,
    mut closing: watch::Receiver<bool>,
    mut shuts: watch::Receiver<Shut>,
) {
    let mut open = tokio::task::JoinSet::new();
    let again = closing.clone();
    loop {
        tokio::select! {
            () = closes(&mut closing) => break,
            taken = listener.accept() => match taken {
                Ok((stream, _)) => match lane.core.at_the_door(&lane.name) {
                    None => {
                        open.spawn(connection(stream, lane.clone(), again.clone()));
                    }
                    Some(DoorWord::Reset) => wire::reset(&stream),
                    Some(DoorWord::Silent) => {
                        open.spawn(silence(stream));
                    }
                },
                Err(error) if is_of_one_connection(&error) => {}
                Err(_) => lane.core.clock.pass(PAUSE).await,
            },
            Ok(()) = shuts.changed() => {
                let shut = *shuts.borrow_and_update();
                match shut_for(listener, &lane, shut).await {
                    Some(again) => listener = again,
                    None => return,
                }
            }
            Some(_) = open.join_next() => {}
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

/// Takes no connections for a while: whoever tries is refused. Then it listens again.
async fn shut_for(listener: TcpListener, lane: &Lane, shut: Shut) -> Option<TcpListener> {
    let mut address = listener.local_addr().ok()?;
    drop(listener);
    lane.core.clock.wait_or_skip(shut.duration).await;
    if shut.moves {
        address.set_port(0);
    }
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => {
                lane.core.doors.moved(&lane.name, listener.local_addr().ok()?);
                return Some(listener);
            }
            // Somebody else has the port for the moment.
            Err(_) => lane.core.clock.pass(PAUSE).await,
        }
    }
}

/// A connection on which nothing is ever said.
async fn silence(mut stream: TcpStream) {
    let mut heard = [0; 1024];
    while stream.read(&mut heard).await.is_ok_and(|bytes| bytes > 0) {}
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
    let Lane { core, name } = lane;
    let socket = Socket::of(stream);
    let lane = Visitor { core, name, wire: socket.wire() };
    let (asked, is_endless, began) = (AtomicBool::new(false), AtomicBool::new(false), Notify::new());
    let given_up = Notify::new();
    let guest = Mutex::new(None);
    let clock: Arc<Clock> = lane.core.clock.clone();
    let service = service_fn(|request: Request<Incoming>| {
        asked.store(true, Ordering::Relaxed);
        is_endless.store(false, Ordering::Relaxed);
        let clock = &clock;
        let (lane, is_endless, began, given_up, guest) =
            (lane.clone(), &is_endless, &began, &given_up, &guest);
        // In a box, since it is long, and gone while its answer is sent.
        Box::pin(async move {
            let wire = lane.wire.clone();
            let waits = async {
                clock.pass(AT_ONCE).await;
                wire.is_left().await;
            };
            let (answer, let_in) = tokio::select! {
                answer = answer(lane, request) => answer,
                () = waits => {
                    given_up.notify_one();
                    std::future::pending().await
                }
            };
            *guest.lock().unwrap_or_else(PoisonError::into_inner) = let_in;
            if answer.size_hint().exact().is_none() {
                is_endless.store(true, Ordering::Relaxed);
                began.notify_one();
            }
            Ok::<_, Infallible>(answer)
        })
    });
    // A stream without an end is no answer that is still due: its reader is let go at once.
    let mut left = pin!(async {
        began.notified().await;
        lane.wire.is_left().await;
    });
    let mut has_left = false;
    let mut serving = pin!(
        http1::Builder::new()
            // Who has said all that he has to say still wants an answer, if it comes at once.
            .half_close(true)
            .max_buf_size(HEAD_MAX_BYTES)
            .max_headers(HEADERS_MAX)
            .serve_connection(TokioIo::new(socket), service)
            .with_upgrades()
    );
    let (mut patience, mut is_new) = (pin!(clock.pass(PATIENCE)), true);
    loop {
        tokio::select! {
            () = lane.wire.is_reset() => return,
            () = given_up.notified() => return,
            // How a connection ends has nobody to be told to.
            _ = &mut serving => break,
            () = &mut left, if !has_left => {
                has_left = true;
                if is_endless.load(Ordering::Relaxed) {
                    return;
                }
            }
            () = closes(&mut closing) => {
                serving.as_mut().graceful_shutdown();
                let _ = serving.await;
                return;
            }
            () = &mut patience, if is_new => {
                is_new = false;
                if !asked.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    }
    let let_in = guest.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((upgrade, guest)) = let_in {
        goes_on(upgrade, guest, &lane, closing).await;
    }
}

/// The connection goes on as a WebSocket.
async fn goes_on(upgrade: OnUpgrade, guest: Guest, lane: &Visitor, mut closing: watch::Receiver<bool>) {
    let Ok(wire) = upgrade.await else { return };
    tokio::select! {
        () = guest.looks(TokioIo::new(wire)) => {}
        () = lane.wire.is_reset() => {}
        () = closes(&mut closing) => {}
    }
}

/// The answer, and who is let in by it to something else than HTTP.
async fn answer(
    lane: Visitor,
    mut request: Request<Incoming>,
) -> (Response<Body>, Option<(OnUpgrade, Guest)>) {
    if let Some(status) = fault_of(&request) {
        return (refused(status), None);
    }
    let upgrade = hyper::upgrade::on(&mut request);
    let mut answer = super::faulted::handle(lane, request.map(Body::new)).await;
    let guest = answer.extensions_mut().remove::<Guest>();
    (answer, guest.map(|guest| (upgrade, guest)))
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
