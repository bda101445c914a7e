//! The core over sockets, timers and the harness's lines; the same code in a process and in memory.
//!
//! One loop, and no tasks beside it but for a server that it has started: a line of the harness is looked at only when the sockets have nothing ready, so
//! a fence can't overtake what was read before it, and a harness that does not read holds the sockets back.

use super::child::{Order, Start, live};
use super::core::Core;
use super::io::{Input, Output, Timer};
use super::strategy::Strategies;
use super::streams::Streams;
use crate::net::{Answered, Ask, Events, Net, News, Web};
use crate::protocol::rpc::{error_line, notification_line, parse_line, result_line};
use crate::protocol::{Connect, Incoming, Request};
use crate::secret::random_password;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, FuturesUnordered, StreamExt as _};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::time::Instant;

/// The adapter could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The line channel to the harness broke.
    #[error("failed to {doing} the harness: {source}")]
    Lines {
        /// `read from` or `write to`.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
    /// No password could be found for a server.
    #[error("failed to find a password: {0}")]
    Password(io::Error),
    /// The HTTP client could not be made.
    #[error("failed to set up the HTTP client: {0}")]
    Client(#[from] reqwest::Error),
}

/// Serves one harness until it says `shutdown` or closes its end.
///
/// # Errors
/// The line channel breaks, or the HTTP client can't be made. What a server does is never an error here.
pub async fn serve<R, W>(strategies: Strategies, reader: R, writer: W) -> Result<(), ServeError>
where
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin,
{
    serve_over(Arc::new(Web::new()?), strategies, reader, writer).await
}

/// As [`serve`], with another way to the server.
///
/// # Errors
/// The line channel breaks.
#[expect(clippy::disallowed_methods, reason = "this file is the adapter's clock")]
pub async fn serve_over<R, W>(
    net: Arc<dyn Net>,
    strategies: Strategies,
    mut reader: R,
    writer: W,
) -> Result<(), ServeError>
where
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (news, mut heard) = mpsc::unbounded_channel();
    let mut shell = Shell {
        core: Core::new(strategies),
        net,
        server: None,
        streams: Streams::default(),
        began: Instant::now(),
        jobs: FuturesUnordered::new(),
        servers: BTreeMap::new(),
        news,
        password: String::new(),
        writer,
    };
    // Outside the loop: a read that is interrupted keeps here what it has got so far.
    let mut line = Vec::new();
    loop {
        let on = tokio::select! {
            biased;
            Some(input) = shell.streams.next(), if !shell.streams.is_empty() => shell.input(input).await?,
            Some(input) = shell.jobs.next() => shell.input(input).await?,
            Some(input) = heard.recv() => shell.input(input).await?,
            read = reader.read_until(b'\n', &mut line) => {
                read.map_err(|source| ServeError::Lines { doing: "read from", source })?;
                if line.is_empty() {
                    return Ok(());
                }
                let taken = std::mem::take(&mut line);
                shell.line(&String::from_utf8_lossy(&taken)).await?
            }
        };
        if !on {
            return Ok(());
        }
    }
}

struct Shell<W> {
    core: Core,
    net: Arc<dyn Net>,
    server: Option<Connect>,
    streams: Streams,
    /// The core's time begins here.
    began: Instant,
    /// Requests and timers under way.
    jobs: FuturesUnordered<BoxFuture<'static, Input>>,
    /// The servers that were started, by their starts; who forgets one, kills it.
    servers: BTreeMap<u64, UnboundedSender<Order>>,
    /// Where they tell what they do.
    news: UnboundedSender<Input>,
    /// That of the latest start.
    password: String,
    writer: W,
}

impl<W: AsyncWrite + Unpin> Shell<W> {
    /// Does one line of the harness; `false` when that was the last.
    async fn line(&mut self, line: &str) -> Result<bool, ServeError> {
        if line.trim().is_empty() {
            return Ok(true);
        }
        match parse_line(line) {
            Ok(Incoming::Request { id, method, params }) => match Request::from_call(&method, &params) {
                Ok(request) => return self.input(Input::Command(id, request)).await,
                Err(error) => self.write(&error_line(Some(&id), &error)).await?,
            },
            // The harness sends no notifications, and this adapter asks nothing: neither may be answered.
            Ok(Incoming::Notification { .. } | Incoming::Response { .. }) => {}
            Err(bad) => self.write(&error_line(bad.id.as_ref(), &bad.error)).await?,
        }
        Ok(true)
    }

    /// Does one step of the core; `false` when that was the last.
    async fn input(&mut self, input: Input) -> Result<bool, ServeError> {
        let mut lines = String::new();
        let mut on = true;
        let now_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        for output in self.core.step(input, now_ms) {
            match output {
                Output::Emit(notification) => lines.push_str(&notification_line(&notification)),
                Output::Answer(id, Ok(result)) => lines.push_str(&result_line(&id, &result)),
                Output::Answer(id, Err(error)) => lines.push_str(&error_line(Some(&id), &error)),
                Output::UseServer(server) => {
                    self.streams.clear();
                    self.server = Some(server);
                }
                Output::StartServer { start, spawn, fresh_password, whole_group, grace_ms } => {
                    if fresh_password {
                        self.password = random_password().map_err(ServeError::Password)?;
                    }
                    let (order, orders) = mpsc::unbounded_channel();
                    self.servers.insert(start, order);
                    let grace = Duration::from_millis(grace_ms);
                    let password = self.password.clone();
                    let start = Start { number: start, spawn: *spawn, password, whole_group, grace };
                    tokio::spawn(live(start, orders, self.news.clone()));
                }
                Output::StopServer { start } => self.order(start, Order::Stop),
                Output::KillServer { start } => self.order(start, Order::Kill),
                Output::OpenStream { stream, path } => {
                    let request = Ask { accept: Some("text/event-stream"), ..self.request("GET", path) };
                    let sent = self.net.send(request);
                    self.streams.insert(stream, events(stream, sent, self.core.bytes()));
                }
                Output::CloseStream { stream } => self.streams.remove(stream),
                Output::Http { request: number, method, path, body, limit_ms } => {
                    let sent = self.net.send(Ask { body, ..self.request(method, path) });
                    let answer = async move {
                        Input::HttpDone { request: number, answer: exchange(sent, limit_ms).await }
                    };
                    self.jobs.push(Box::pin(answer));
                }
                Output::StartTimer { timer, ms } => self.jobs.push(Box::pin(wait(timer, ms))),
                Output::Exit => on = false,
            }
        }
        self.write(&lines).await?;
        Ok(on)
    }

    /// One that has ended already takes no orders.
    fn order(&self, start: u64, order: Order) {
        let _ = self.servers.get(&start).map(|server| server.send(order));
    }

    fn request(&self, method: &'static str, path: String) -> Ask {
        let server = self.server.as_ref();
        let credentials = server.map(|server| (server.username.clone(), server.password.clone()));
        let server = server.map(|server| server.url.clone()).unwrap_or_default();
        let origin = self.core.origin(&path);
        Ask { method, server, path, credentials, origin, ..Ask::default() }
    }

    async fn write(&mut self, lines: &str) -> Result<(), ServeError> {
        let written = async {
            self.writer.write_all(lines.as_bytes()).await?;
            self.writer.flush().await
        };
        written.await.map_err(|source| ServeError::Lines { doing: "write to", source })
    }
}

/// A request and its whole answer, if it comes in time.
#[expect(clippy::disallowed_methods, reason = "this file is the adapter's clock; the core names every limit")]
async fn exchange(
    sent: BoxFuture<'static, Result<Answered, String>>,
    limit_ms: u64,
) -> Result<(u16, String), String> {
    let whole = async {
        let answer = sent.await?;
        Ok((answer.status, answer.text().await?))
    };
    let late = || Err(format!("no answer within {limit_ms} ms"));
    tokio::time::timeout(Duration::from_millis(limit_ms), whole).await.unwrap_or_else(|_| late())
}

#[expect(
    clippy::disallowed_methods,
    reason = "this file is the adapter's clock; the core asks for every wait"
)]
async fn wait(timer: Timer, ms: u64) -> Input {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    Input::TimerFired { timer }
}

/// Where an event stream is.
enum EventStream {
    Unsent(BoxFuture<'static, Result<Answered, String>>),
    Open(Events),
    Over,
}

/// The event stream as inputs of the core: opened or refused, its events, and how it ended.
fn events(
    stream: u64,
    sent: BoxFuture<'static, Result<Answered, String>>,
    bytes: fn(&[u8]) -> Vec<u8>,
) -> BoxStream<'static, Input> {
    let ended = move |reason: String| Some((Input::StreamEnded { stream, reason }, EventStream::Over));
    let inputs = stream::unfold(EventStream::Unsent(sent), move |state| async move {
        match state {
            EventStream::Over => None,
            EventStream::Unsent(sent) => match sent.await {
                Err(why) => ended(why),
                Ok(Answered { status, retry_after, .. }) if status != 200 => {
                    Some((Input::StreamRefused { stream, status, retry_after }, EventStream::Over))
                }
                Ok(answer) => {
                    let open = EventStream::Open(answer.events(bytes));
                    Some((Input::StreamOpened { stream }, open))
                }
            },
            EventStream::Open(mut events) => match events.next().await {
                News::Event(data) => Some((Input::StreamEvent { stream, data }, EventStream::Open(events))),
                News::Alive => Some((Input::StreamAlive { stream }, EventStream::Open(events))),
                News::Ended(reason) => ended(reason),
            },
        }
    });
    // An ended one stays in the map until the core closes it.
    inputs.chain(stream::pending()).boxed()
}
