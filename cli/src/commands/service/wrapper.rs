//! A wrapper around the server, as package managers install one: it starts the program, hands signals on, and ends as the
//! program does. Whoever kills it leaves the program behind.

use super::ending::die_of;
use crate::commands::{Failure, Outcome};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitCode;
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

/// Tells the program that it is the one inside.
const WRAPPED: &str = "STANDIN_WRAPPED";

/// Is this the program inside?
#[expect(clippy::disallowed_methods, reason = "the wrapper tells it so")]
pub(super) fn is_wrapped() -> bool {
    std::env::var_os(WRAPPED).is_some()
}

/// Starts this program once more, and is its wrapper.
pub(super) async fn run() -> Outcome {
    let could_not =
        |doing: &str, error: std::io::Error| Failure::CouldNot(format!("failed to {doing}: {error}"));
    let listen = |kind| signal(kind).map_err(|error| could_not("wait for signals", error));
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut hang_up = listen(SignalKind::hangup())?;
    let mut arguments = std::env::args_os();
    let own_name = arguments.next().unwrap_or_else(|| OsString::from("standin"));
    let program = std::env::current_exe().map_err(|error| could_not("find the own program", error))?;
    // A name may say which server it is, so it is handed on.
    let mut child = Command::new(program)
        .arg0(own_name)
        .args(arguments)
        .env(WRAPPED, "1")
        .spawn()
        .map_err(|error| could_not("start the server", error))?;
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    loop {
        let signal = tokio::select! {
            ended = child.wait() => {
                let ended = ended.map_err(|error| could_not("wait for the server", error))?;
                return match (ended.code(), ended.signal()) {
                    (None, Some(signal)) => die_of(signal),
                    (code, _) => Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))),
                };
            }
            _ = terminate.recv() => Signal::TERM,
            _ = interrupt.recv() => Signal::INT,
            _ = hang_up.recv() => Signal::HUP,
        };
        if let Some(id) = id {
            // It may have ended by itself meanwhile, which is seen next.
            let _ = kill_process(id, signal);
        }
    }
}
