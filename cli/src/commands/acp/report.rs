//! What an agent's process tells of itself, over a loopback socket that its environment names: its start, the bytes that it
//! reads and writes, its end. stdout is the protocol's, and a client's harness must know what was said to the agent.
//!
//! Each line is one of a recording. When nobody listens any more, the agent ends: it was started to be watched.

use super::super::{Failure, Outcome};
use fixtures::recording::{Exit, Line, Note, Pipe, PipeEnd, PipeName};
use harness::complain;
use mock_server::acp::agent::Left;
use mock_server::acp::watch::{Seen, Strain, Watcher};
use recorder::clock::{pause, within};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};

/// Tells a child that it is one.
const CHILD: &str = "STANDIN_CHILD_OF_AGENT";
/// No child lives longer, whoever forgets it.
const LIFE_OF_A_CHILD: Duration = Duration::from_secs(120);
/// A socket that nobody reads holds the agent no longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// So many blanks in a row mean nothing.
const LONG: usize = 16 * 1024;

/// The environment that a client passes on, or does not.
const TOLD: &[&str] = &["KIRO_LOG_LEVEL", "KIRO_CHAT_LOG_FILE", "NO_COLOR", "TERM"];

/// The line to whoever asked for it.
#[derive(Clone)]
pub(super) struct Report(Option<Arc<Mutex<TcpStream>>>);

impl Report {
    /// Opens it, and tells who has been started.
    pub(super) fn open(address: Option<SocketAddr>) -> Result<Self, Failure> {
        let Some(address) = address else { return Ok(Self(None)) };
        let opened = loopback(address).and_then(TcpStream::connect).and_then(|stream| {
            stream.set_nodelay(true)?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Ok(stream)
        });
        let stream =
            opened.map_err(|error| Failure::Misuse(format!("failed to report to {address}: {error}")))?;
        let report = Self(Some(Arc::new(Mutex::new(stream))));
        report.note("start", &start());
        Ok(report)
    }

    /// An agent that somebody watches ends with them, whatever a fault has made of it: a harness leaves nothing behind.
    pub(super) fn end_with_listener(&self) {
        let Some(stream) = &self.0 else { return };
        let listens = stream.lock().unwrap_or_else(PoisonError::into_inner).try_clone();
        if let Ok(mut stream) = listens {
            // Nothing is ever said there; its end is the listener's.
            std::thread::spawn(move || {
                while let Ok(1..) = stream.read(&mut [0; 16]) {}
                std::process::exit(0);
            });
        }
    }

    fn tell(&self, line: &Line) {
        let Some(stream) = &self.0 else { return };
        let Ok(mut text) = serde_json::to_string(line) else { return };
        text.push('\n');
        // Who has stopped to listen is not told.
        stream.lock().unwrap_or_else(PoisonError::into_inner).write_all(text.as_bytes()).ok();
    }

    fn note(&self, word: &str, what: &serde_json::Value) {
        self.tell(&Line::Note(Note { at_us: 0, text: format!("agent {word} {what}") }));
    }

    /// Told of all that the agent reads and writes, and does what faults ask of its process.
    pub(super) fn watcher(&self, runtime: &Handle) -> Watcher {
        let (report, runtime) = (self.clone(), runtime.clone());
        Arc::new(move |seen| match seen {
            Seen::Stdin(bytes) => report.tell(&Line::Pipe(Pipe::new(0, PipeName::Stdin, bytes))),
            // A line without an end is told by its length: telling must not be slower than saying.
            Seen::Stdout(bytes) if bytes.len() >= LONG && bytes.iter().all(|byte| *byte == b' ') => {
                report.note("blanks", &json!(bytes.len()));
            }
            Seen::Stdout(bytes) => report.tell(&Line::Pipe(Pipe::new(0, PipeName::Stdout, bytes))),
            Seen::StdinEnd => report.tell(&Line::PipeEnd(PipeEnd { at_us: 0, of: PipeName::Stdin })),
            Seen::Strain(strain) => {
                report.note("strain", &json!(format!("{strain:?}")));
                match strain {
                    Strain::StopReading => {}
                    Strain::Linger => outlive_signals(&runtime),
                    Strain::Child => bear_child(),
                }
            }
        })
    }

    /// It ends so.
    pub(super) fn left(&self, left: Left) {
        let (code, signal) = match left {
            Left::Quietly | Left::Unread => (Some(0), None),
            Left::Exit(code) => (Some(i32::from(code)), None),
            Left::Die(signal) => (None, Some(signal)),
        };
        self.tell(&Line::Exit(Exit { at_us: 0, code, signal }));
    }
}

fn loopback(address: SocketAddr) -> std::io::Result<SocketAddr> {
    match address.ip().is_loopback() {
        true => Ok(address),
        false => Err(std::io::Error::other("it is not this machine; name an address such as 127.0.0.1:4000")),
    }
}

/// What a client has started: whatever it chose for the agent.
fn start() -> serde_json::Value {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let told: serde_json::Map<String, serde_json::Value> =
        TOLD.iter().filter_map(|name| Some(((*name).to_owned(), json!(given(name)?)))).collect();
    let folder = std::env::current_dir().map(|folder| folder.display().to_string()).unwrap_or_default();
    json!({"pid": std::process::id(), "arguments": arguments, "folder": folder, "environment": told})
}

#[expect(clippy::disallowed_methods, reason = "what a client hands on to its agent is to be told")]
fn given(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Polite signals are heard from now on, and nothing is done.
fn outlive_signals(runtime: &Handle) {
    let _inside = runtime.enter();
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        // Once it is listened for, a signal no longer ends the process, also when nobody hears it.
        if let Err(error) = signal(kind) {
            complain!("standin: failed to outlive a signal: {error}");
        }
    }
}

/// Starts a child that holds the agent's pipes.
fn bear_child() {
    let started = std::env::current_exe()
        .and_then(|program| Command::new(program).arg0("standin").arg("acp").env(CHILD, "1").spawn());
    if let Err(error) = started {
        complain!("standin: failed to start a child: {error}");
    }
}

/// Is this process such a child?
pub(super) fn is_child() -> bool {
    given(CHILD).is_some()
}

/// Lives until nobody is left who wants to know, and tells that it lives.
pub(super) fn outlive(address: Option<SocketAddr>) -> Outcome {
    let runtime = super::runtime()?;
    outlive_signals(runtime.handle());
    runtime.block_on(async {
        let Some(address) = address else { return pause(LIFE_OF_A_CHILD).await };
        let Ok(report) = Report::open(Some(address)) else { return };
        report.note("child", &json!({"pid": std::process::id()}));
        let Some(stream) = report.0 else { return };
        let stream = stream.lock().unwrap_or_else(PoisonError::into_inner).try_clone();
        let listens = stream.and_then(|stream| {
            stream.set_nonblocking(true)?;
            tokio::net::TcpStream::from_std(stream)
        });
        if let Ok(mut stream) = listens {
            // Nothing is ever said there; its end is the end of the harness.
            within(LIFE_OF_A_CHILD, stream.read(&mut [0])).await;
        }
    });
    Ok(ExitCode::SUCCESS)
}
