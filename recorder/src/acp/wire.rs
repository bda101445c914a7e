//! A client's end of an agent's pipes. Every byte goes on the tape as it was read or written; whole lines of stdout are
//! read as messages, and what is no message is left on the tape alone.

use crate::tape::Tape;
use fixtures::recording::{Line, Pipe, PipeEnd, PipeName};
use serde_json::Value;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex as Turn, Notify};
use tokio::task::JoinHandle;

/// As much as a pipe holds on Linux.
const AT_ONCE: usize = 64 * 1024;

/// Both directions of a conversation with an agent. Clones are the same.
#[derive(Clone)]
pub struct Wire {
    tape: Tape,
    heard: Arc<Heard>,
    says: Arc<Turn<Option<Box<dyn AsyncWrite + Send + Unpin>>>>,
}

/// What the agent has said.
struct Heard {
    state: Mutex<State>,
    news: Notify,
}

struct State {
    messages: Vec<Value>,
    latest: Instant,
    ended: bool,
}

impl Wire {
    /// Listens to an agent from now on; the task ends with its stdout.
    pub fn new(
        tape: Tape,
        stdin: impl AsyncWrite + Send + Unpin + 'static,
        stdout: impl AsyncRead + Send + Unpin + 'static,
    ) -> (Self, JoinHandle<()>) {
        let state = State { messages: Vec::new(), latest: crate::clock::now(), ended: false };
        let heard = Arc::new(Heard { state: Mutex::new(state), news: Notify::new() });
        let says: Box<dyn AsyncWrite + Send + Unpin> = Box::new(stdin);
        let wire = Self { tape, heard, says: Arc::new(Turn::new(Some(says))) };
        let listens = tokio::spawn(wire.clone().listen(stdout));
        (wire, listens)
    }

    /// Keeps what the agent says on another pipe.
    pub fn keep(&self, of: PipeName, mut source: impl AsyncRead + Send + Unpin + 'static) -> JoinHandle<()> {
        let tape = self.tape.clone();
        tokio::spawn(async move {
            let mut buffer = vec![0; AT_ONCE];
            while let Ok(count @ 1..) = source.read(&mut buffer).await {
                tape.push(|at_us| Line::Pipe(Pipe::new(at_us, of, &buffer[..count])));
            }
            tape.push(|at_us| Line::PipeEnd(PipeEnd { at_us, of }));
        })
    }

    async fn listen(self, mut stdout: impl AsyncRead + Send + Unpin) {
        let mut buffer = vec![0; AT_ONCE];
        let mut rest = Vec::new();
        let of = PipeName::Stdout;
        while let Ok(count @ 1..) = stdout.read(&mut buffer).await {
            self.tape.push(|at_us| Line::Pipe(Pipe::new(at_us, of, &buffer[..count])));
            rest.extend_from_slice(&buffer[..count]);
            let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let lines: Vec<u8> = rest.drain(..whole).collect();
            let messages =
                lines.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
            let mut state = self.state();
            state.messages.extend(messages);
            state.latest = crate::clock::now();
            drop(state);
            self.heard.news.notify_waiters();
        }
        self.tape.push(|at_us| Line::PipeEnd(PipeEnd { at_us, of }));
        self.state().ended = true;
        self.heard.news.notify_waiters();
    }

    /// Says one line, its end included.
    ///
    /// # Errors
    /// The agent reads no more.
    pub async fn say(&self, line: &[u8]) -> io::Result<()> {
        let mut says = self.says.lock().await;
        let Some(stdin) = says.as_mut() else {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the agent's stdin is closed"));
        };
        self.tape.push(|at_us| Line::Pipe(Pipe::new(at_us, PipeName::Stdin, line)));
        stdin.write_all(line).await?;
        stdin.flush().await
    }

    /// Closes the agent's stdin: it is asked to end.
    pub async fn close(&self) {
        if let Some(mut stdin) = self.says.lock().await.take() {
            // A pipe that is closed already is closed.
            stdin.shutdown().await.ok();
            self.tape.push(|at_us| Line::PipeEnd(PipeEnd { at_us, of: PipeName::Stdin }));
        }
    }

    /// The tape that hears all.
    #[must_use]
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// How many messages have come.
    #[must_use]
    pub fn count(&self) -> usize {
        self.state().messages.len()
    }

    /// When the agent said something last.
    #[must_use]
    pub fn last_activity(&self) -> Instant {
        self.state().latest
    }

    /// The first message from this place on that fits, and its place; waits for it. `None` when the agent has left.
    pub async fn wait_for(&self, from: usize, fits: impl Fn(&Value) -> bool) -> Option<(usize, Value)> {
        let mut at = from;
        loop {
            let news = self.heard.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            {
                let state = self.state();
                while let Some(message) = state.messages.get(at) {
                    if fits(message) {
                        return Some((at, message.clone()));
                    }
                    at += 1;
                }
                if state.ended {
                    return None;
                }
            }
            news.await;
        }
    }

    /// All messages from this place on that have come.
    #[must_use]
    pub fn since(&self, from: usize) -> Vec<Value> {
        self.state().messages.get(from..).unwrap_or_default().to_vec()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.heard.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
