//! The line channel to an adapter: requests out, answers and notifications in, everything into the history.

use crate::clock::within;
use crate::protocol::rpc::{Incoming, RpcError, parse_line, request_line};
use crate::protocol::{Id, Notification, Request};
use fixtures::recording::{AdapterLine, Line, Speaker, Trouble, TroubleKind};
use fixtures::redact::{clean, hide_telling_values};
use mock_server::Journal;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<Value, RpcError>>>>>;

/// A channel to an adapter.
pub(crate) struct Link {
    journal: Journal,
    writer: Box<dyn AsyncWrite + Unpin + Send>,
    waiting: Waiting,
    next_id: u64,
    reader: JoinHandle<()>,
}

/// Why a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum AskError {
    /// The adapter answers with an error.
    #[error("{method} was answered with error {}: {}", .error.code, .error.message)]
    Refused { method: String, error: RpcError },
    /// The adapter does not answer.
    #[error("{method} was not answered within {} s", .limit.as_secs_f32())]
    Silent { method: String, limit: Duration },
    /// The adapter is gone.
    #[error("the adapter ended before it answered {method}")]
    Ended { method: String },
}

impl Link {
    pub(crate) fn new(
        journal: Journal,
        reader: impl AsyncBufRead + Unpin + Send + 'static,
        writer: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Self {
        let waiting = Waiting::default();
        let reader = tokio::spawn(read(reader, journal.clone(), waiting.clone()));
        Self { journal, writer: Box::new(writer), waiting, next_id: 1, reader }
    }

    /// Asks, and waits for the answer.
    pub(crate) async fn ask(&mut self, request: &Request, limit: Duration) -> Result<Value, AskError> {
        let id = self.next_id;
        let line = request_line(&Id::Number(id), request);
        self.ask_line(request.method(), line, limit).await
    }

    /// Asks for a method that no adapter has. An honest one says so.
    pub(crate) async fn probe(&mut self, limit: Duration) -> Result<Value, AskError> {
        const METHOD: &str = "probe/no-adapter-has-this";
        let line =
            json!({"jsonrpc": "2.0", "id": self.next_id, "method": METHOD, "params": {}}).to_string() + "\n";
        self.ask_line(METHOD, line, limit).await
    }

    async fn ask_line(&mut self, method: &str, line: String, limit: Duration) -> Result<Value, AskError> {
        let method = method.to_owned();
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(self.next_id, sender);
        self.next_id += 1;
        note(&self.journal, Speaker::Harness, &line);
        let line = if line.ends_with('\n') { line } else { line + "\n" };
        let sent = async {
            self.writer.write_all(line.as_bytes()).await?;
            self.writer.flush().await
        };
        if sent.await.is_err() {
            return Err(AskError::Ended { method });
        }
        match within(limit, receiver).await {
            None => Err(AskError::Silent { method, limit }),
            Some(Err(_)) => Err(AskError::Ended { method }),
            Some(Ok(Err(error))) => Err(AskError::Refused { method, error }),
            Some(Ok(Ok(result))) => Ok(result),
        }
    }

    /// Closes the adapter's input and waits until its output ends.
    pub(crate) async fn close(mut self, limit: Duration) {
        // An adapter that is gone already has nothing to close.
        let _ = self.writer.shutdown().await;
        drop(self.writer);
        if within(limit, &mut self.reader).await.is_none() {
            self.reader.abort();
        }
    }
}

async fn read(reader: impl AsyncBufRead + Unpin, journal: Journal, waiting: Waiting) {
    let mut lines = reader.lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if line.trim().is_empty() {
            continue;
        }
        note(&journal, Speaker::Adapter, &line);
        match parse_line(&line) {
            Ok(Incoming::Response { id, outcome }) => {
                let sender = match id {
                    Some(Id::Number(id)) => {
                        waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id)
                    }
                    _ => None,
                };
                match sender {
                    // Whoever asked may have stopped waiting.
                    Some(sender) => drop(sender.send(outcome)),
                    None => trouble(&journal, &format!("it answers what was not asked: {}", shown(&line))),
                }
            }
            Ok(Incoming::Notification { method, params }) => {
                if let Err(error) = Notification::from_call(&method, &params) {
                    trouble(&journal, &format!("{}: {}", error.message, shown(&line)));
                }
            }
            Ok(Incoming::Request { .. }) => {
                trouble(&journal, &format!("an adapter asks nothing, but this one does: {}", shown(&line)));
            }
            Err(bad) => trouble(&journal, &format!("{}: {}", bad.error.message, shown(&line))),
        }
    }
    // Dropping the senders tells everyone who waits.
    waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
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
