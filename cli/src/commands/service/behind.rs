//! A server that an adapter has started in a case of the harness: it gets ready, fails and ends as any stand-in does, and
//! what it serves is the world of the case.

use super::ending::{self, Told};
use super::{Failure, Outcome, Service, ready_line, wrapper};
use fixtures::fault_plan::StartAction;
use harness::spawned::door::{self, Door};
use harness::{complain, say};
use recorder::clock::pause;
use std::process::ExitCode;
use std::time::Duration;

/// Why the harness's world can't be served.
fn failed(doing: &str, error: &std::io::Error) -> Failure {
    Failure::CouldNot(format!("failed to {doing}: {}", fixtures::error::io_words(error)))
}

/// Serves until it is told to end, by a signal or by the harness.
pub(super) async fn serve(service: Service, desk: &str) -> Outcome {
    let password = service.set.options.password.clone();
    let line = door::Line::open(desk, password, service.host.clone(), wrapper::is_wrapped()).await;
    let mut line = line.map_err(|error| failed("ask the harness what to do", &error))?;
    let fault = line.orders.fault.take();
    if fault == Some(StartAction::Orphan) {
        // The line stays open as long as the wrapper lives.
        return wrapper::run().await;
    }
    let mut told = Told::listen(service.manner)?;
    if let Some(before) = &service.before {
        say!("{before}");
    }
    match &fault {
        Some(action @ StartAction::Exit { code, .. }) => {
            let password = service.set.options.password.as_deref().unwrap_or_default();
            action.last_words(password).for_each(|words| complain!("{words}"));
            return Ok(ExitCode::from(*code));
        }
        Some(StartAction::Never) => return ended(&mut told, &mut line).await,
        Some(StartAction::Late { ms }) => {
            tokio::select! {
                () = pause(Duration::from_millis(*ms)) => {}
                outcome = ended(&mut told, &mut line) => return outcome,
            }
        }
        _ => {}
    }
    let port = service.ports.first().copied().unwrap_or_default();
    let door = Door::open(port, &mut line).await.map_err(|error| failed("listen", &error))?;
    let port = door.port().map_err(|error| failed("listen", &error))?;
    say!("{}", ready_line(&service, port, fault.as_ref()));
    let crash = async {
        match fault {
            Some(StartAction::Crash { after_ms, code }) => {
                pause(Duration::from_millis(after_ms)).await;
                code
            }
            _ => std::future::pending().await,
        }
    };
    tokio::select! {
        told = told.wait() => told.end(),
        () = door.stand_open() => Ok(ExitCode::SUCCESS),
        word = line.told() => match word {
            door::Told::Crash => {
                line.crash().await;
                ending::crash(None)
            }
            door::Told::Gone => Ok(ExitCode::SUCCESS),
        },
        code = crash => {
            line.crash().await;
            ending::crash(code)
        }
    }
}

/// Waits until it is told to end, and does.
async fn ended(told: &mut Told, line: &mut door::Line) -> Outcome {
    tokio::select! {
        told = told.wait() => told.end(),
        _ = line.told() => Ok(ExitCode::SUCCESS),
    }
}
