//! Stands between any client and any ACP agent: every byte is passed on as it was read, and a copy is kept.
//!
//! A direction is read again only when what was read before has been passed on, so who does not read holds up who
//! writes, as without a tee. The end of the client's words ends the agent's stdin; signals and the exit code go their
//! way. The agent's children are ended with it, and all of them when the tee itself is killed.

use super::process::{AgentProcess, Ended, Pipes, gated};
use crate::clock;
use crate::guardian::Guardian;
use crate::tape::Tape;
use fixtures::recording::{Exit, Line, Note, Pipe, PipeEnd, PipeName};
use rustix::process::Signal;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

const AT_ONCE: usize = 64 * 1024;
/// So much of a conversation is kept; the rest passes.
const MOST: u64 = 256 * 1024 * 1024;
/// How long what an agent has written is still read when it has ended: a child of its own may hold its pipes open.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The client's ends of the pipes.
pub struct ClientEnds {
    /// What the client says.
    pub stdin: Box<dyn Read + Send>,
    /// What the client hears.
    pub stdout: Box<dyn Write + Send>,
    /// What whoever looks hears.
    pub stderr: Box<dyn Write + Send>,
}

/// Starts the agent and passes everything on until it has ended; how it ended.
///
/// # Errors
/// The agent can't be started, or its end can't be learned.
pub async fn pass(
    command: &[OsString],
    path_env: &OsStr,
    client: ClientEnds,
    tape: &Tape,
) -> io::Result<Ended> {
    let program = command.first().ok_or_else(|| io::Error::other("no command"))?;
    let (guardian, _) = Guardian::start(&std::env::temp_dir(), path_env)?;
    let mut started = gated(Path::new(program));
    started.args(&command[1..]);
    let mut signals = Signals::listen()?;
    let (agent, Pipes { stdin, stdout, stderr }) = AgentProcess::start(started, Arc::new(guardian)).await?;
    let kept = Kept { tape: tape.clone(), bytes: Arc::default() };
    let words = tokio::spawn(to_agent(client.stdin, stdin, kept.clone()));
    let said = [
        tokio::spawn(from_agent(PipeName::Stdout, stdout, client.stdout, kept.clone())),
        tokio::spawn(from_agent(PipeName::Stderr, stderr, client.stderr, kept)),
    ];
    loop {
        tokio::select! {
            () = agent.ended() => break,
            number = signals.next() => agent.signal(number),
        }
    }
    words.abort();
    clock::within(LAST_WORDS, async {
        for pipe in said {
            drop(pipe.await);
        }
    })
    .await;
    let ended = agent.reap().await?;
    tape.push(|at_us| Line::Exit(Exit { at_us, code: ended.code, signal: ended.signal }));
    Ok(ended)
}

/// The copy.
#[derive(Clone)]
struct Kept {
    tape: Tape,
    bytes: Arc<AtomicU64>,
}

impl Kept {
    fn keep(&self, of: PipeName, bytes: &[u8]) {
        let before = self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if before < MOST {
            self.tape.push(|at_us| Line::Pipe(Pipe::new(at_us, of, bytes)));
            if before + bytes.len() as u64 >= MOST {
                let text = format!("more than {MOST} bytes passed; the rest is not kept");
                self.tape.push(|at_us| Line::Note(Note { at_us, text }));
            }
        }
    }

    fn end(&self, of: PipeName) {
        self.tape.push(|at_us| Line::PipeEnd(PipeEnd { at_us, of }));
    }
}

/// The client's words: a thread reads them, since nothing else can wait for any kind of stdin.
async fn to_agent(mut source: Box<dyn Read + Send>, mut stdin: tokio::process::ChildStdin, kept: Kept) {
    let (sender, mut pieces) = mpsc::channel::<Vec<u8>>(1);
    std::thread::spawn(move || {
        let mut buffer = vec![0; AT_ONCE];
        loop {
            match source.read(&mut buffer) {
                Ok(count @ 1..) => {
                    if sender.blocking_send(buffer[..count].to_vec()).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
            }
        }
    });
    while let Some(piece) = pieces.recv().await {
        kept.keep(PipeName::Stdin, &piece);
        if stdin.write_all(&piece).await.is_err() {
            // An agent that reads no more is told no more; the client learns it when its own pipe is full or ended.
            return;
        }
    }
    kept.end(PipeName::Stdin);
}

/// What the agent says: the next is read when this has been taken.
async fn from_agent(
    of: PipeName,
    mut source: impl AsyncRead + Unpin,
    mut sink: Box<dyn Write + Send>,
    kept: Kept,
) {
    let mut buffer = vec![0; AT_ONCE];
    while let Ok(count @ 1..) = source.read(&mut buffer).await {
        let piece = buffer[..count].to_vec();
        kept.keep(of, &piece);
        let written = tokio::task::spawn_blocking(move || {
            let done = sink.write_all(&piece).and_then(|()| sink.flush());
            (sink, done)
        });
        match written.await {
            Ok((back, Ok(()))) => sink = back,
            // The client hears no more: nor is the agent read any more, and it learns so when it writes.
            _ => return,
        }
    }
    kept.end(of);
}

/// What a client may tell its agent's process.
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.hang_up.recv() => Signal::HUP,
        }
    }
}
