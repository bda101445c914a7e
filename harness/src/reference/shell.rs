//! The core over sockets, timers and the harness's lines; the same code in a process and in memory.
//!
//! One loop, and no tasks beside it but for a server that it has started: a line of the harness is looked at only when the sockets have nothing ready, so
//! a fence can't overtake what was read before it, and a harness that does not read holds the sockets back.

use super::child::{Order, Start, live};
use super::core::Core;
use super::io::{Input, Output, Timer};
use super::strategy::Strategies;
use crate::protocol::rpc::{error_line, notification_line, parse_line, result_line};
use crate::protocol::{Connect, Incoming, Request};
use crate::secret::random_password;
use fixtures::sse;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, FuturesUnordered, StreamExt as _};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::time::Instant;
use tokio_stream::StreamMap;

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
#[expect(clippy::disallowed_methods, reason = "this file is the adapter's clock")]
pub async fn serve<R, W>(strategies: Strategies, mut reader: R, writer: W) -> Result<(), ServeError>
where
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin,
{
    // No proxy: the servers are on this machine, whatever the environment says. No redirects: none is expected.
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build()?;
    let (news, mut heard) = mpsc::unbounded_channel();
    let mut shell = Shell {
        core: Core::new(strategies),
        client,
        server: None,
        streams: StreamMap::new(),
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
            Some((_, input)) = shell.streams.next(), if !shell.streams.is_empty() => shell.input(input).await?,
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
    client: reqwest::Client,
    server: Option<Connect>,
    /// The event streams, by their numbers; an ended one yields nothing more.
    streams: StreamMap<u64, BoxStream<'static, Input>>,
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
                    let request = self.request("GET", &path).header("accept", "text/event-stream");
                    self.streams.insert(stream, events(stream, request, self.core.bytes()));
                }
                Output::CloseStream { stream } => drop(self.streams.remove(&stream)),
                Output::Http { request: number, method, path, body, limit_ms } => {
                    let mut request = self.request(method, &path).timeout(Duration::from_millis(limit_ms));
                    if let Some(body) = body {
                        request = request.json(&body);
                    }
                    let answer =
                        async move { Input::HttpDone { request: number, answer: exchange(request).await } };
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

    fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let method = if method == "POST" { reqwest::Method::POST } else { reqwest::Method::GET };
        match &self.server {
            // An empty url fails when it is sent, and the failure is told like any other.
            None => self.client.request(method, path),
            Some(server) => self
                .client
                .request(method, format!("{}{path}", server.url.trim_end_matches('/')))
                .basic_auth(&server.username, Some(&server.password)),
        }
    }

    async fn write(&mut self, lines: &str) -> Result<(), ServeError> {
        let written = async {
            self.writer.write_all(lines.as_bytes()).await?;
            self.writer.flush().await
        };
        written.await.map_err(|source| ServeError::Lines { doing: "write to", source })
    }
}

/// A request and its whole answer.
async fn exchange(request: reqwest::RequestBuilder) -> Result<(u16, String), String> {
    let response = request.send().await.map_err(|error| told(&error))?;
    let status = response.status().as_u16();
    let body = response.text().await.map_err(|error| told(&error))?;
    Ok((status, body))
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
    Unsent(reqwest::RequestBuilder),
    Open { response: reqwest::Response, parser: sse::Parser, ready: VecDeque<sse::Frame> },
    Over,
}

/// The event stream as inputs of the core: opened or refused, its events, and how it ended.
fn events(
    stream: u64,
    request: reqwest::RequestBuilder,
    bytes: fn(&[u8]) -> Vec<u8>,
) -> BoxStream<'static, Input> {
    let ended = move |reason: String| Some((Input::StreamEnded { stream, reason }, EventStream::Over));
    let inputs = stream::unfold(EventStream::Unsent(request), move |state| async move {
        match state {
            EventStream::Over => None,
            EventStream::Unsent(request) => match request.send().await {
                Err(error) => ended(told(&error)),
                Ok(response) if response.status() != reqwest::StatusCode::OK => {
                    let status = response.status().as_u16();
                    let asked = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
                    let retry_after_ms = asked.and_then(|value| value.parse::<u64>().ok()).map(|s| s * 1000);
                    Some((Input::StreamRefused { stream, status, retry_after_ms }, EventStream::Over))
                }
                Ok(response) => {
                    let (parser, ready) = (sse::Parser::new(), VecDeque::new());
                    Some((Input::StreamOpened { stream }, EventStream::Open { response, parser, ready }))
                }
            },
            EventStream::Open { mut response, mut parser, mut ready } => loop {
                if let Some(frame) = ready.pop_front() {
                    let input = Input::StreamEvent { stream, data: frame.data };
                    return Some((input, EventStream::Open { response, parser, ready }));
                }
                match response.chunk().await {
                    Ok(Some(chunk)) => {
                        ready.extend(parser.feed(&bytes(&chunk)));
                        if ready.is_empty() {
                            let input = Input::StreamAlive { stream };
                            return Some((input, EventStream::Open { response, parser, ready }));
                        }
                    }
                    Ok(None) if parser.is_mid_frame() => {
                        return ended("closed in the middle of an event".to_owned());
                    }
                    Ok(None) => return ended("closed by the server".to_owned()),
                    Err(error) => return ended(told(&error)),
                }
            },
        }
    });
    // An ended one stays in the map until the core closes it.
    inputs.chain(stream::pending()).boxed()
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
