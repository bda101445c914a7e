//! A stand-in as a program of its own: it says that it is ready, serves until it is told to end, and ends as it should,
//! unless its start is to go wrong.

mod behind;
mod ending;
pub(in crate::commands) use ending::die_of;
mod wrapper;

use super::stage::Set;
use super::{Failure, Outcome, runtime, write_history};
use ending::Told;
use fixtures::ServerKind;
use fixtures::fault_plan::{StartAction, StartFault};
use fixtures::recording::Recording;
use fixtures::scenario::Ending;
use harness::{complain, say};
use mock_server::{Options, StandIn, StartError};
use recorder::clock::pause;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// What it is to be, and how it is to behave.
#[derive(Debug)]
pub(crate) struct Service {
    /// What it plays.
    pub(crate) set: Set,
    /// The ports that are tried, in turn.
    pub(crate) ports: Vec<u16>,
    /// What it says before it listens.
    pub(crate) before: Option<String>,
    /// The name of its host in the ready line.
    pub(crate) host: String,
    /// What it says behind the ready line, with its port for `PORT`.
    pub(crate) behind: Vec<String>,
    /// How it ends.
    pub(crate) manner: Manner,
}

/// How a program ends that is told to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As one of ours: all is well.
    Own,
    /// As this server does.
    Of(ServerKind),
}

/// What the real servers say of a port that is taken.
const TAKEN: &str = "Error: Unexpected error\n\nServeError";

/// Serves until it is told to end.
pub(crate) fn run(mut service: Service) -> Outcome {
    if let Some(desk) = harness::spawned::door::desk() {
        return runtime()?.block_on(behind::serve(service, &desk));
    }
    let starts = std::mem::take(&mut service.set.options.faults.starts);
    let fault = if wrapper::is_wrapped() { None } else { fault_of_this_start(starts, &service.set)? };
    let runtime = runtime()?;
    match fault {
        Some(StartAction::Orphan) => runtime.block_on(wrapper::run()),
        fault => runtime.block_on(service.serve(fault)),
    }
}

impl Service {
    async fn serve(self, fault: Option<StartAction>) -> Outcome {
        let mut told = Told::listen(self.manner)?;
        if let Some(before) = &self.before {
            say!("{before}");
        }
        match &fault {
            Some(action @ StartAction::Exit { code, .. }) => {
                let password = self.set.options.password.as_deref().unwrap_or_default();
                action.last_words(password).for_each(|words| complain!("{words}"));
                return Ok(ExitCode::from(*code));
            }
            Some(StartAction::Never) => return told.wait().await.end(),
            Some(StartAction::Late { ms }) => {
                tokio::select! {
                    () = pause(Duration::from_millis(*ms)) => {}
                    told = told.wait() => return told.end(),
                }
            }
            _ => {}
        }
        let Some(stand_in) = self.stand_in().await? else {
            complain!("{TAKEN}");
            return Ok(ExitCode::FAILURE);
        };
        if self.set.open_gates {
            stand_in.open_all_gates();
        }
        self.say_ready(&stand_in, fault.as_ref());
        let crash = async {
            match fault {
                Some(StartAction::Crash { after_ms, code }) => {
                    pause(Duration::from_millis(after_ms)).await;
                    code
                }
                _ => std::future::pending().await,
            }
        };
        let told_so = tokio::select! {
            told = told.wait() => told,
            code = crash => {
                self.keep_journal(&stand_in)?;
                stand_in.end(Ending::Kill).await;
                return ending::crash(code);
            }
        };
        for (number, fault) in stand_in.unfired_faults() {
            complain!("fault {number} never fired: it {fault}");
        }
        self.keep_journal(&stand_in)?;
        // Who is told twice does not wait.
        tokio::select! {
            () = stand_in.end(told_so.ending()) => told_so.end(),
            again = told.wait() => again.end_at_once(),
        }
    }

    /// None where a real server would find its port taken.
    async fn stand_in(&self) -> Result<Option<StandIn>, Failure> {
        let mut ports = self.ports.iter().peekable();
        while let Some(&port) = ports.next() {
            let options = Options { port, ..self.set.options.clone() };
            match StandIn::start(options).await {
                Err(StartError::Listen { source, .. })
                    if source.kind() == ErrorKind::AddrInUse && ports.peek().is_some() => {}
                Err(StartError::Listen { source, .. })
                    if source.kind() == ErrorKind::AddrInUse && self.manner != Manner::Own =>
                {
                    return Ok(None);
                }
                started => return started.map(Some).map_err(|error| Failure::CouldNot(error.to_string())),
            }
        }
        Err(Failure::CouldNot("there is no port to listen on".to_owned()))
    }

    fn say_ready(&self, stand_in: &StandIn, fault: Option<&StartAction>) {
        let url = stand_in.url();
        let port = url.rsplit(':').next().unwrap_or_default();
        say!("{}", ready_line(self, port, fault));
        for line in &self.behind {
            say!("{}", line.replace("PORT", port));
        }
        for (lane, url) in stand_in.lanes().into_iter().skip(1) {
            say!("lane {lane} listening on {url}");
        }
    }

    fn keep_journal(&self, stand_in: &StandIn) -> Result<(), Failure> {
        let Some(path) = &self.set.journal else { return Ok(()) };
        let journal =
            Recording { header: stand_in.header().clone(), lines: stand_in.journal().lines(), torn: false };
        write_history(&journal, path)
    }
}

/// How it says that it listens.
fn ready_line(service: &Service, port: impl Display, fault: Option<&StartAction>) -> String {
    let word = service.set.options.server.word();
    match fault {
        Some(StartAction::Garbled { line: Some(line) }) => line.clone(),
        Some(StartAction::Garbled { line: None }) => format!("{word} server listening on http://"),
        _ => format!("{word} server listening on http://{}:{port}", service.host),
    }
}

/// What goes wrong this time.
fn fault_of_this_start(starts: Vec<StartFault>, set: &Set) -> Result<Option<StartAction>, Failure> {
    let number = set.starts_file.as_ref().map(count).transpose()?;
    let is_this = |nth: &[u32]| nth.is_empty() || number.is_some_and(|number| nth.contains(&number));
    Ok(starts.into_iter().find(|start| is_this(&start.nth)).map(|start| start.action))
}

/// Counts this start, from 1: the file grows by a byte.
fn count(file: &PathBuf) -> Result<u32, Failure> {
    let counted = || {
        let mut file = OpenOptions::new().append(true).create(true).open(file)?;
        file.write_all(b".")?;
        file.stream_position()
    };
    let number = counted().map_err(|error| starts_failed(file, &error))?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

fn starts_failed(file: &Path, error: &std::io::Error) -> Failure {
    let words = fixtures::error::io_words(error);
    Failure::CouldNot(format!("{}: failed to count the starts: {words}", file.display()))
}
