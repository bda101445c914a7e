//! Who ends a server, and how it then ends. The real servers differ: Kilo's brings its instances to their end and has exit
//! code 0, OpenCode's dies of the signal.

use super::Manner;
use crate::commands::{Failure, Outcome};
use fixtures::ServerKind;
use fixtures::scenario::Ending;
use recorder::clock::pause;
use rustix::process::{Pid, getppid, test_kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGTERM};
use std::process::ExitCode;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How often Kilo's server looks whether the program is still there that it was started for.
const WATCH: Duration = Duration::from_secs(1);

/// Listens for who ends the server.
pub(super) struct Told {
    manner: Manner,
    signals: Vec<(i32, Signal)>,
    parent: Option<Pid>,
}

/// Somebody has said that it is to end.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToldTo {
    manner: Manner,
    /// Which signal said it; none did when the program is gone that the server was started for.
    signal: Option<i32>,
}

impl Told {
    /// Listens from now on: whoever reads the ready line may end the server at once.
    pub(super) fn listen(manner: Manner) -> Result<Self, Failure> {
        let numbers: &[i32] = match manner {
            Manner::Own => &[SIGTERM, SIGINT],
            Manner::Of(_) => &[SIGTERM, SIGINT, SIGHUP],
        };
        let mut signals = Vec::new();
        for number in numbers {
            let listening = signal(SignalKind::from_raw(*number));
            let listening = listening
                .map_err(|error| Failure::CouldNot(format!("failed to wait for signals: {error}")))?;
            signals.push((*number, listening));
        }
        let parent = if manner == Manner::Of(ServerKind::Kilo) { parent() } else { None };
        Ok(Self { manner, signals, parent })
    }

    /// Waits for it.
    pub(super) async fn wait(&mut self) -> ToldTo {
        let parent = self.parent;
        let signals = &mut self.signals;
        let any = std::future::poll_fn(|context| {
            for (number, signal) in signals.iter_mut() {
                if signal.poll_recv(context).is_ready() {
                    return std::task::Poll::Ready(*number);
                }
            }
            std::task::Poll::Pending
        });
        let signal = tokio::select! {
            signal = any => Some(signal),
            () = gone(parent) => None,
        };
        ToldTo { manner: self.manner, signal }
    }
}

impl ToldTo {
    /// How its streams end.
    pub(super) fn ending(self) -> Ending {
        match self.manner {
            Manner::Of(ServerKind::Kilo) => Ending::Term,
            Manner::Own | Manner::Of(ServerKind::Opencode) => Ending::Kill,
        }
    }

    /// Ends the program.
    pub(super) fn end(self) -> Outcome {
        match self.manner {
            Manner::Own | Manner::Of(ServerKind::Kilo) => Ok(ExitCode::SUCCESS),
            Manner::Of(ServerKind::Opencode) => self.end_at_once(),
        }
    }

    /// Ends it as one that does not listen for signals.
    pub(super) fn end_at_once(self) -> Outcome {
        match self.signal {
            Some(signal) => die_of(signal),
            None => Ok(ExitCode::SUCCESS),
        }
    }
}

/// Ends with this code, or as one that is killed.
pub(super) fn crash(code: Option<u8>) -> Outcome {
    match code {
        Some(code) => Ok(ExitCode::from(code)),
        None => die_of(SIGKILL),
    }
}

/// Does not come back, unless the system does not let it.
pub(in crate::commands) fn die_of(signal: i32) -> Outcome {
    let failed = |error| Failure::CouldNot(format!("failed to die of signal {signal}: {error}"));
    signal_hook::low_level::emulate_default_handler(signal).map_err(failed)?;
    Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX)))
}

/// The program that the server was started for, as its environment says.
#[expect(clippy::disallowed_methods, reason = "Kilo's server takes its parent from the environment")]
fn parent() -> Option<Pid> {
    std::env::var("KILO_PARENT_PID").ok()?.trim().parse().ok().and_then(Pid::from_raw)
}

/// Waits until a program is no more, or whoever has started this one; for ever without one.
async fn gone(parent: Option<Pid>) {
    let Some(parent) = parent else { return std::future::pending().await };
    // Who was never there is not waited for either.
    let child_of = getppid();
    while is_there(parent) && getppid() == child_of {
        pause(WATCH).await;
    }
}

/// One that belongs to somebody else is there, too.
fn is_there(program: Pid) -> bool {
    test_kill_process(program) != Err(rustix::io::Errno::SRCH)
}
