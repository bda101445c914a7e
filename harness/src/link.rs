//! The line channel to an adapter: requests out, answers and notifications in, everything into the history.
//!
//! An adapter is a stranger's program. What it writes has bounds, and one that goes beyond them is not read any more:
//! it babbles, and whoever started it ends it.

use crate::clock::within;
use crate::lines::Lines;
use crate::protocol::rpc::{Incoming, RpcError, parse_line, request_line};
use crate::protocol::{Id, Notification, Request};
use fixtures::recording::{AdapterLine, Line, Speaker, Trouble, TroubleKind};
use fixtures::redact::{clean, hide_telling_values};
use futures_util::FutureExt as _;
use mock_server::Journal;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<Value, RpcError>>>>>;

/// Says of a notification, method and parameters, what is wrong with it.
pub type Understands = Arc<dyn Fn(&str, &Value) -> Result<(), RpcError> + Send + Sync>;

/// Is told all that an adapter says, and where, as it says it; gives what may be kept of it.
pub type Overhears = Arc<dyn for<'a> Fn(&'static str, &'a str) -> Cow<'a, str> + Send + Sync>;

/// What is made of an adapter's words beside its answers.
#[derive(Clone)]
pub struct Ear {
    /// Knows its notifications.
    pub understands: Understands,
    /// Is told everything.
    pub overhears: Overhears,
}

/// The ear of the chat's protocol.
pub(crate) fn of_the_chat() -> Ear {
    Ear {
        understands: Arc::new(|method, params| Notification::from_call(method, params).map(drop)),
        overhears: Arc::new(|_, words| Cow::Borrowed(words)),
    }
}

/// The longest line of an adapter. A whole timeline is one line, so this is generous.
const LONGEST_LINE: usize = 4 * 1024 * 1024;
/// So much an adapter may write in one case.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// So many lines.
const MOST_LINES: usize = 20_000;
/// So many lines that are no messages. A log that strays to stdout stays below it, and is told all the same.
const MOST_BAD_LINES: usize = 20;

/// A channel to an adapter.
pub struct Link {
    journal: Journal,
    writer: Box<dyn AsyncWrite + Unpin + Send + Sync>,
    waiting: Waiting,
    next_id: u64,
    reader: JoinHandle<()>,
    /// Why nothing more is read, once that is so.
    gone: watch::Receiver<Option<String>>,
}

/// Why a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AskError {
    /// The adapter answers with an error.
    #[error("{method} was answered with error {}: {}", .error.code, .error.message)]
    Refused {
        /// What was asked.
        method: String,
        /// What it says.
        error: RpcError,
    },
    /// The adapter does not answer.
    #[error("{method} was not answered within {} s", .limit.as_secs_f32())]
    Silent {
        /// What was asked.
        method: String,
        /// So long.
        limit: Duration,
    },
    /// The adapter is gone, or is not listened to any more.
    #[error("{why} before it answered {method}")]
    Ended {
        /// What was asked.
        method: String,
        /// How nothing more came.
        why: String,
    },
}

impl Link {
    pub(crate) fn new(
        journal: Journal,
        reader: impl AsyncBufRead + Unpin + Send + 'static,
        writer: impl AsyncWrite + Unpin + Send + Sync + 'static,
        ear: Ear,
    ) -> Self {
        let waiting = Waiting::default();
        let (says_gone, gone) = watch::channel(None);
        let reading =
            Reading { journal: journal.clone(), waiting: waiting.clone(), ear, bad: 0, answered: false };
        let reader = tokio::spawn(reading.until_the_end(reader, says_gone));
        Self { journal, writer: Box::new(writer), waiting, next_id: 1, reader, gone }
    }

    /// Numbers its requests on from those of another one: in one history no two have the same number.
    pub fn count_from(&mut self, number: u64) {
        self.next_id = number;
    }

    /// The number of the next request.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.next_id
    }

    /// Waits until nothing more can come from the adapter; tells why.
    pub fn gone(&self) -> impl Future<Output = String> + use<> {
        until_gone(self.gone.clone())
    }

    /// Is it not read any more, whatever it writes?
    pub(crate) fn has_babbled(&self) -> bool {
        self.gone.borrow().as_deref() == Some(BABBLED)
    }

    /// Asks, and waits for the answer.
    pub(crate) async fn ask(&mut self, request: &Request, limit: Duration) -> Result<Value, AskError> {
        let id = self.next_id;
        let line = request_line(&Id::Number(id), request);
        self.ask_line(request.method(), line, limit).await
    }

    /// Asks for a method that no adapter has. An honest one says so.
    ///
    /// # Errors
    /// It refuses, as it should; or does not answer, or is gone.
    pub async fn probe(&mut self, limit: Duration) -> Result<Value, AskError> {
        const METHOD: &str = "probe/no-adapter-has-this";
        let line =
            json!({"jsonrpc": "2.0", "id": self.next_id, "method": METHOD, "params": {}}).to_string() + "\n";
        self.ask_line(METHOD, line, limit).await
    }

    /// Asks for a method by its name.
    ///
    /// # Errors
    /// The adapter refuses, does not answer, or is gone.
    pub async fn call(&mut self, method: &str, params: Value, limit: Duration) -> Result<Value, AskError> {
        let line = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        self.ask_line(method, line.to_string() + "\n", limit).await
    }

    /// Asks for a method by its name and does not wait for the answer. A request that the adapter does not read within
    /// `limit` is as one that it does not answer.
    pub async fn begin(&mut self, method: &str, params: Value, limit: Duration) -> Asked {
        let line = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        self.put(method, line.to_string() + "\n", limit).await
    }

    /// Sending and waiting have one limit together.
    async fn ask_line(&mut self, method: &str, line: String, limit: Duration) -> Result<Value, AskError> {
        let mut asked = self.enter(method, &line);
        let mut answer = None;
        // An adapter that does not read may have answered all the same: what came is kept, however long it reads.
        let both = async { tokio::join!(self.send(&line), async { answer = Some(asked.answered().await) }) };
        within(limit, both).await;
        answer.unwrap_or(Err(AskError::Silent { method: asked.method, limit }))
    }

    async fn put(&mut self, method: &str, line: String, limit: Duration) -> Asked {
        let asked = self.enter(method, &line);
        within(limit, self.send(&line)).await;
        asked
    }

    /// Writes a request into the history, and waits for its answer from now on.
    fn enter(&mut self, method: &str, line: &str) -> Asked {
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(self.next_id, sender);
        self.next_id += 1;
        note(&self.journal, Speaker::Harness, line);
        Asked { method: method.to_owned(), receiver, gone: self.gone.clone() }
    }

    /// An adapter that is gone says so itself.
    async fn send(&mut self, line: &str) {
        let gone = self.gone();
        let sent = async {
            self.writer.write_all(line.as_bytes()).await?;
            if !line.ends_with('\n') {
                self.writer.write_all(b"\n").await?;
            }
            self.writer.flush().await
        };
        let _unread = before_gone(sent, gone).await;
    }

    /// Closes the adapter's input. What is left of it is read as long as the result lives.
    pub(crate) async fn close(mut self) -> Reader {
        // An adapter that is gone already has nothing to close.
        let _ = self.writer.shutdown().await;
        Reader(self.reader)
    }
}

/// A request that was asked and whose answer nobody has waited for yet.
#[derive(Debug)]
pub struct Asked {
    method: String,
    receiver: oneshot::Receiver<Result<Value, RpcError>>,
    gone: watch::Receiver<Option<String>>,
}

impl Asked {
    /// Waits for the answer.
    ///
    /// # Errors
    /// The adapter refuses, does not answer, or is gone.
    pub async fn answer(mut self, limit: Duration) -> Result<Value, AskError> {
        self.answered_within(limit).await.unwrap_or(Err(AskError::Silent { method: self.method, limit }))
    }

    /// The answer, if it comes within `limit`; else it can be waited for again.
    pub async fn answered_within(&mut self, limit: Duration) -> Option<Result<Value, AskError>> {
        within(limit, self.answered()).await
    }

    async fn answered(&mut self) -> Result<Value, AskError> {
        let receiver = &mut self.receiver;
        let answer = async {
            match receiver.await {
                Ok(answer) => answer,
                // The sender lives in `waiting`, which lives as long as the link.
                Err(_) => std::future::pending().await,
            }
        };
        let method = || self.method.clone();
        match before_gone(answer, until_gone(self.gone.clone())).await {
            Err(why) => Err(AskError::Ended { method: method(), why }),
            Ok(Err(error)) => Err(AskError::Refused { method: method(), error }),
            Ok(Ok(result)) => Ok(result),
        }
    }
}

async fn until_gone(mut gone: watch::Receiver<Option<String>>) -> String {
    let why = gone.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
    why.unwrap_or_else(|| ENDED.to_owned())
}

/// A fact, unless the adapter is gone before it. The last words of an adapter and its end can come between two looks,
/// so a fact is looked at once more when the end is seen.
pub(crate) async fn before_gone<T>(
    fact: impl Future<Output = T>,
    gone: impl Future<Output = String>,
) -> Result<T, String> {
    let mut fact = std::pin::pin!(fact);
    tokio::select! {
        biased;
        fact = &mut fact => Ok(fact),
        why = gone => fact.now_or_never().ok_or(why),
    }
}

/// Reads the adapter's last words.
pub(crate) struct Reader(JoinHandle<()>);

impl Reader {
    /// Waits until they are read.
    pub(crate) async fn end(mut self, limit: Duration) {
        within(limit, &mut self.0).await;
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Why nothing more comes, if nothing is wrong with what came.
const ENDED: &str = "the adapter ended";
/// Why nothing more is read of an adapter that could write more.
const BABBLED: &str = "the adapter babbled";

/// Reads what an adapter writes.
struct Reading {
    journal: Journal,
    waiting: Waiting,
    ear: Ear,
    /// Lines that were no messages.
    bad: usize,
    /// It has answered once, so it speaks the protocol.
    answered: bool,
}

impl Reading {
    async fn until_the_end(mut self, reader: impl AsyncBufRead + Unpin, gone: watch::Sender<Option<String>>) {
        let mut lines = Lines::new(reader, LONGEST_LINE);
        let (mut count, mut bytes) = (0, 0);
        let mut babble = None;
        while let Some(piece) = lines.next().await {
            count += 1;
            bytes += piece.text.len() + 1;
            babble = if !piece.whole {
                Some(format!("a line of more than {LONGEST_LINE} bytes"))
            } else if bytes > MOST_BYTES {
                Some(format!("more than {MOST_BYTES} bytes"))
            } else if count > MOST_LINES {
                Some(format!("more than {MOST_LINES} lines"))
            } else {
                self.line(&piece.text)
            };
            if babble.is_some() {
                break;
            }
        }
        let why = babble.map(|what| {
            trouble(&self.journal, &format!("babble: the adapter wrote {what}; it is ended"));
            BABBLED.to_owned()
        });
        gone.send_replace(Some(why.unwrap_or_else(|| ENDED.to_owned())));
    }

    /// Takes a line; tells what is too much of a bad thing.
    fn line(&mut self, line: &str) -> Option<String> {
        if line.trim().is_empty() {
            return None;
        }
        let overhears = self.ear.overhears.clone();
        let kept = overhears("line", line);
        note(&self.journal, Speaker::Adapter, &kept);
        match parse_line(line) {
            Ok(Incoming::Response { id, outcome }) => {
                let sender = match id {
                    Some(Id::Number(id)) => {
                        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id)
                    }
                    _ => None,
                };
                let Some(sender) = sender else {
                    return self.bad_line("it answers what was not asked".to_owned(), &kept);
                };
                self.answered = true;
                // Whoever asked may have stopped waiting.
                drop(sender.send(outcome));
                None
            }
            Ok(Incoming::Notification { method, params }) => {
                let error = (self.ear.understands)(&method, &params).err()?;
                self.bad_line(error.message, &kept)
            }
            Ok(Incoming::Request { .. }) => {
                self.bad_line("an adapter asks nothing, but this one does".to_owned(), &kept)
            }
            Err(bad) => self.bad_line(bad.error.message, &kept),
        }
    }

    /// A line that is no message is told; too many of them, or one before the first answer, are the end.
    fn bad_line(&mut self, what: String, line: &str) -> Option<String> {
        self.bad += 1;
        trouble(&self.journal, &format!("{what}: {}", shown(line)));
        if !self.answered {
            return Some(
                "what is no message before it answered anything: it does not speak the protocol".to_owned(),
            );
        }
        (self.bad > MOST_BAD_LINES).then(|| format!("more than {MOST_BAD_LINES} lines that are no messages"))
    }
}

fn note(journal: &Journal, from: Speaker, line: &str) {
    let mut message = serde_json::from_str(line).unwrap_or_else(|_| json!({"not JSON": line}));
    hide_telling_values(&mut message);
    journal.push(|at_us| Line::Adapter(AdapterLine { at_us, from, message }));
}

fn trouble(journal: &Journal, what: &str) {
    let what = clean(what);
    journal.push(|at_us| Line::Trouble(Trouble { at_us, kind: TroubleKind::Adapter, what }));
}

/// How much of a bad line is shown.
const SHOWN_CHARS: usize = 200;

fn shown(line: &str) -> String {
    line.chars().take(SHOWN_CHARS).collect()
}

#[cfg(test)]
mod tests;
