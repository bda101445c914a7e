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
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
pub(super) struct Report(Option<Arc<Listener>>);

struct Listener {
    address: SocketAddr,
    stream: Mutex<TcpStream>,
    /// It has not taken what was told, and is told no more.
    is_lost: AtomicBool,
}

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
        let (stream, is_lost) = (Mutex::new(stream), AtomicBool::new(false));
        let report = Self(Some(Arc::new(Listener { address, stream, is_lost })));
        report.note("start", &start());
        Ok(report)
    }

    /// Waits until nobody listens any more; for ever, if nobody ever did. An agent that somebody watches ends with them,
    /// whatever a fault has made of it: a harness leaves nothing behind, nor does the agent.
    pub(super) fn unheard(&self) -> impl Future<Output = ()> + use<> {
        let (says_gone, gone) = tokio::sync::oneshot::channel();
        let listens = self.0.as_ref().and_then(|listener| listener.stream().try_clone().ok());
        if let Some(mut stream) = listens {
            // Nothing is ever said there; its end is the listener's.
            std::thread::spawn(move || {
                while let Ok(1..) = stream.read(&mut [0; 16]) {}
                says_gone.send(()).ok();
                // It ends by itself, and tidies up; but for one that is held by a pipe that nobody reads.
                let (_never, end) = std::sync::mpsc::channel::<()>();
                end.recv_timeout(PATIENCE).ok();
                std::process::exit(0);
            });
        }
        async move {
            if gone.await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    fn tell(&self, line: &Line) {
        let Some(listener) = &self.0 else { return };
        let Ok(text) = serde_json::to_string(line) else { return };
        listener.tell(&(text + "\n"));
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
                    Strain::Child => report.bear_child(),
                }
            }
        })
    }

    /// Starts a child that holds the agent's pipes, and tells of itself where the agent does.
    fn bear_child(&self) {
        let started = std::env::current_exe().and_then(|program| {
            let mut child = Command::new(program);
            child.arg0("standin").arg("acp").env(CHILD, "1");
            if let Some(listener) = &self.0 {
                child.arg(format!("--report={}", listener.address));
            }
            child.spawn()
        });
        if let Err(error) = started {
            complain!("standin: failed to start a child: {error}");
        }
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

impl Listener {
    fn stream(&self) -> MutexGuard<'_, TcpStream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who has stopped to listen is waited for once: it sees the end of what was told, and the agent is held no more.
    fn tell(&self, text: &str) {
        let mut stream = self.stream();
        if !self.is_lost.load(Ordering::Relaxed) && stream.write_all(text.as_bytes()).is_err() {
            self.is_lost.store(true, Ordering::Relaxed);
            stream.shutdown(Shutdown::Write).ok();
        }
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
    json!({"pid": std::process::id(), "arguments": arguments, "folder": folder(), "environment": told})
}

/// Where the client has started it.
pub(super) fn folder() -> String {
    std::env::current_dir().map(|folder| folder.display().to_string()).unwrap_or_default()
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
        let Some(listener) = report.0 else { return };
        let stream = listener.stream().try_clone();
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_listener_that_reads_nothing_holds_the_agent_once() {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let report = Report::open(Some(door.local_addr().unwrap())).unwrap();
        let (mut listens, _) = door.accept().unwrap();
        let listener = report.0.as_ref().unwrap();
        listener.stream().set_nonblocking(true).unwrap();
        // More than the system keeps for anybody.
        listener.tell(&"a".repeat(64 << 20));
        assert!(listener.is_lost.load(Ordering::Relaxed));
        report.note("more", &json!(1));
        let mut told = String::new();
        listens.read_to_string(&mut told).unwrap();
        assert!(told.starts_with('{') && told.ends_with('a'), "nothing follows what was not taken");
    }
}
