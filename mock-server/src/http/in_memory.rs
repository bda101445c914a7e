//! A way in without sockets: a request is handed over and answered in memory, through the lane's doors and its faults.
//! For a stand-in in virtual time, which no socket may meet.

use super::core::Core;
use super::doors::Shut;
use super::wire::Wire;
use super::{Visitor, faulted};
use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{HeaderName, HeaderValue, Method, Request, Uri, header};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use fixtures::fault_plan::action::DoorWord;
use futures_util::StreamExt as _;
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// A request of a client in memory.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its method.
    pub method: String,
    /// The port of its lane.
    pub port: u16,
    /// Path and query.
    pub path: String,
    /// Name and password.
    pub credentials: Option<(String, String)>,
    /// More headers.
    pub headers: Vec<(String, String)>,
    /// JSON.
    pub body: Option<String>,
}

/// An answer in memory: its head, and its body as it comes.
#[derive(Debug)]
pub struct Called {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    chunks: BodyDataStream,
}

/// Why there is no answer, or no more of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// Nobody listens there.
    #[error("connection refused")]
    Refused,
    /// The connection was reset.
    #[error("connection reset by peer")]
    Reset,
    /// The body ends before its end.
    #[error("the body ended before its end")]
    Cut,
}

impl Called {
    /// The next bytes of the body; none when it is over.
    pub async fn chunk(&mut self) -> Option<Result<Bytes, Lost>> {
        loop {
            match self.chunks.next().await? {
                Ok(bytes) if bytes.is_empty() => {}
                chunk => return Some(chunk.map_err(|_| Lost::Cut)),
            }
        }
    }
}

/// The lanes of a stand-in, in memory; clones share them.
#[derive(Clone)]
pub struct Lanes {
    core: Arc<Core>,
    /// Those that take no connection.
    shut: Arc<Mutex<BTreeSet<String>>>,
}

impl Lanes {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core, shut: Arc::default() }
    }

    /// Opens a lane; the future keeps it, and shuts it as faults want.
    pub(crate) fn open(&self, name: &str, number: u16) -> impl Future<Output = ()> + Send + use<> {
        let mut address = SocketAddr::from((Ipv4Addr::LOCALHOST, number));
        let mut shuts = self.core.doors.open(name, address);
        let (lanes, name) = (self.clone(), name.to_owned());
        async move {
            while shuts.changed().await.is_ok() {
                lanes.shut_for(&name, &mut address, &mut shuts).await;
            }
        }
    }

    async fn shut_for(&self, name: &str, address: &mut SocketAddr, shuts: &mut watch::Receiver<Shut>) {
        let shut = *shuts.borrow_and_update();
        self.shut().insert(name.to_owned());
        self.core.clock.wait_or_skip(shut.duration).await;
        if shut.moves {
            address.set_port(address.port() + MOVES_BY);
            self.core.doors.moved(name, *address);
        }
        self.shut().remove(name);
    }

    fn shut(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.shut.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request, each on a connection of its own, and waits for the head of its answer. Who drops the future, or
    /// the answer, has left.
    pub async fn call(&self, call: Call) -> Result<Called, Lost> {
        let lanes = self.core.doors.addresses();
        let lane = lanes.into_iter().find(|(_, address)| address.port() == call.port);
        let (name, _) = lane.ok_or(Lost::Refused)?;
        if self.shut().contains(&name) {
            return Err(Lost::Refused);
        }
        match self.core.at_the_door(&name) {
            None => {}
            Some(DoorWord::Reset) => return Err(Lost::Reset),
            Some(DoorWord::Silent) => std::future::pending().await,
        }
        let wire = Wire::in_memory();
        let visitor = Visitor { core: self.core.clone(), name: Arc::from(name), wire: wire.clone() };
        let request = request_of(call).ok_or(Lost::Refused)?;
        let response = tokio::select! {
            biased;
            response = faulted::handle(visitor, request) => response,
            () = wire.is_reset() => return Err(Lost::Reset),
        };
        let (head, body) = response.into_parts();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        Ok(Called { status: head.status.as_u16(), headers, chunks: body.into_data_stream() })
    }
}

/// So far away is the address that a lane has after it has moved.
const MOVES_BY: u16 = 100;

/// The request as HTTP has it; none when its path is none.
fn request_of(call: Call) -> Option<Request<Body>> {
    let Call { method, port, path, credentials, headers, body } = call;
    let body = body.map(Bytes::from);
    let mut request = Request::new(Body::from(body.clone().unwrap_or_default()));
    *request.method_mut() = Method::from_bytes(method.as_bytes()).ok()?;
    *request.uri_mut() = path.parse::<Uri>().ok()?;
    let basic = credentials.map(|(name, password)| {
        let token = BASE64_STANDARD.encode(format!("{name}:{password}"));
        ("authorization".to_owned(), format!("Basic {token}"))
    });
    let json = body.map(|_| (header::CONTENT_TYPE.to_string(), "application/json".to_owned()));
    let host = (header::HOST.to_string(), format!("127.0.0.1:{port}"));
    for (name, value) in std::iter::once(host).chain(basic).chain(json).chain(headers) {
        let (name, value) = (HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?);
        request.headers_mut().insert(name, value);
    }
    Some(request)
}
