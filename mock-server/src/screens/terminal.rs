//! Runs a program on a pseudo-terminal, whose screen others look at.

use super::{Hand, Opened, Screen, Screens};
use crate::clock::Clock;
use crate::group::search_path;
use crate::shell::{Utf8, said_by};
use crate::world::{OnScreen, ShellEnd, ShellLine, ShellNews};
use pty_process::{Command, OwnedReadPty, OwnedWritePty, Pts, Size};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Child;
use tokio::sync::mpsc;

/// How long a program may go on whose terminal was closed, and how long its output is awaited when it has ended.
const GRACE: Duration = Duration::from_millis(300);
/// What is printed within such a while is shown as one.
const AT_ONCE: Duration = Duration::from_millis(4);
/// Programs are told that they are in a terminal of this kind.
const KIND: &str = "xterm-256color";

/// A terminal with its program; who drops it closes it.
struct Session<'a> {
    screens: &'a Screens,
    id: String,
    screen: Arc<Screen>,
    /// None when it has ended by itself.
    child: Option<Child>,
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.screens.close(&self.id);
        if let Some(child) = self.child.take() {
            end(child);
        }
    }
}

/// Runs the program of a line to its end, on the screen that was opened for it.
pub(crate) async fn run(
    line: &ShellLine,
    on: &OnScreen,
    screens: &Screens,
    opened: Opened,
    clock: &Clock,
    mut tell: impl FnMut(ShellNews),
) {
    let (screen, hands) = opened;
    let mut session = Session { screens, id: on.id.clone(), screen, child: None };
    let started = pty_process::open().and_then(|(pty, pts)| {
        pty.resize(Size::new(on.rows, on.columns))?;
        Ok((start(line, on, pts)?, pty))
    });
    let (child, pty) = match started {
        Ok(started) => started,
        Err(error) => {
            let told = format!("standin failed to open a terminal in {}: {error}", line.directory);
            return tell(ShellNews::Failed(told));
        }
    };
    let child = session.child.insert(child);
    let (mut reading, writing) = pty.into_split();
    let screen = session.screen.clone();
    let mut text = Utf8::default();
    let mut show = |bytes: &[u8]| screen.print(&text.add(bytes));
    let status = {
        let typing = obey(writing, hands);
        tokio::pin!(typing);
        let mut buffer = vec![0; 64 * 1024];
        let mut is_silent = false;
        loop {
            tokio::select! {
                biased;
                read = reading.read(&mut buffer), if !is_silent => match read {
                    Ok(count) if count > 0 => {
                        let mut bytes = buffer[..count].to_vec();
                        more(&mut reading, &mut bytes, clock).await;
                        show(&bytes);
                    }
                    // Nobody has it open any more.
                    _ => is_silent = true,
                },
                status = child.wait() => break status,
                () = &mut typing => {}
            }
        }
    };
    session.child = None;
    // What it has printed last may still be on its way.
    tokio::select! {
        () = rest(reading, &mut show) => {}
        () = clock.wait(GRACE) => {}
    }
    let code = status.ok().and_then(|status| status.code());
    drop(session);
    // The real servers tell of no signal.
    tell(ShellNews::Ended(ShellEnd::Exited(Some(code.unwrap_or(1)))));
}

fn start(line: &ShellLine, on: &OnScreen, pts: Pts) -> pty_process::Result<Child> {
    // Where the folder is not there, it is in the person's own.
    let folder = if Path::new(&line.directory).is_dir() { &line.directory } else { &line.home };
    Command::new(&on.program)
        .args(&on.arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", search_path())
        .env("HOME", &line.home)
        .envs(said_by(line.server))
        .envs(on.environment.iter().map(|(name, value)| (name, value)))
        .env("TERM", KIND)
        .spawn(pts)
}

/// Does what people do to a screen.
async fn obey(mut writing: OwnedWritePty, mut hands: mpsc::UnboundedReceiver<Hand>) {
    while let Some(hand) = hands.recv().await {
        // Whoever types to a program that has just ended is not heard.
        match hand {
            Hand::Types(bytes) => drop(writing.write_all(&bytes).await),
            Hand::Draws { rows, columns } => drop(writing.resize(Size::new(rows, columns))),
        }
    }
    std::future::pending().await
}

/// What is printed at once is shown at once.
async fn more(reading: &mut OwnedReadPty, bytes: &mut Vec<u8>, clock: &Clock) {
    let is_over = clock.wait(AT_ONCE);
    tokio::pin!(is_over);
    loop {
        tokio::select! {
            biased;
            () = &mut is_over => return,
            read = reading.read_buf(bytes) => match read {
                Ok(1..) => {}
                // It is found out again where that ends.
                _ => return,
            },
        }
    }
}

async fn rest(mut reading: OwnedReadPty, show: &mut impl FnMut(&[u8])) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = reading.read(&mut buffer).await {
        show(&buffer[..count]);
    }
}

/// Ends a program as a terminal that is closed does, and with force when it does not obey. It is not reaped before, so
/// its number is nobody else's.
fn end(child: Child) {
    let Some(leader) = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) else { return };
    kill_process_group(leader, Signal::HUP).ok();
    std::thread::spawn(move || {
        let (sender, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(leader), options), Err(rustix::io::Errno::INTR)) {}
            sender.send(()).ok();
        });
        ended.recv_timeout(GRACE).ok();
        kill_process_group(leader, Signal::KILL).ok();
        drop(child);
    });
}
