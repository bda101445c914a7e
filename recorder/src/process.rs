//! A server as a program: its process group, and the outputs that are read whether anyone looks at them or not.
//!
//! A program waits behind a gate until the guardian knows its group: a recorder that is killed before that leaves a
//! shell whose pipe has ended, and so has nothing to start. The guardian forgets a group before its leader is reaped,
//! since the number may be given to strangers then.

use crate::clock;
use crate::group::{Group, leader_ended};
use crate::guardian::Guardian;
use crate::server_log::ServerLog;
use rustix::process::{Pid, Signal};
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Longer lines are cut: a program without line ends must not fill the memory.
const LONGEST_LINE: usize = 16 * 1024;
/// How many of the last lines are kept for messages.
const KEPT_LINES: usize = 30;

/// A shell that becomes the program once it is told so. What a shell adds to the environment is taken away again.
const GATE: &str = "read -r go || exit 1; unset PWD OLDPWD SHLVL; exec \"$0\" \"$@\" </dev/null";

/// How a server ended.
#[derive(Debug, Clone, Copy)]
pub struct Stopped {
    /// Its status.
    pub status: ExitStatus,
    /// It and its children ended by themselves within the limit.
    pub graceful: bool,
}

/// A running program and its children.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    group: Group,
    guardian: Arc<Guardian>,
    /// The lines of stdout as they come.
    pub(crate) stdout: mpsc::UnboundedReceiver<String>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    drains: Vec<JoinHandle<()>>,
}

/// The command of a program that [`ProcessGroup::start`] can start; arguments and environment are added to it.
pub(crate) fn gated(program: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", GATE]).arg(program);
    command
}

impl ProcessGroup {
    /// Starts what [`gated`] has made. Both outputs are read from now on, whether anyone looks at them or not.
    pub(crate) async fn start(
        mut command: Command,
        guardian: Arc<Guardian>,
        log: Option<ServerLog>,
    ) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::start(command)?;
        let (Some(mut gate), Some(stdout), Some(stderr)) =
            (group.take_stdin(), group.take_stdout(), group.take_stderr())
        else {
            return Err(io::Error::other("the new process has no pipes"));
        };
        let (lines, received) = mpsc::unbounded_channel();
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let (kept, stdout_log) = (Arc::clone(&last), log.clone());
        let drains = vec![
            tokio::spawn(drain(stdout, move |line| {
                write_log(stdout_log.as_ref(), &line);
                // A line that nobody waits for any more is dropped: the receiver closes after the ready line.
                drop(lines.send(line));
            })),
            tokio::spawn(drain(stderr, move |line| {
                write_log(log.as_ref(), &line);
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() == KEPT_LINES {
                    kept.pop_front();
                }
                kept.push_back(line);
            })),
        ];
        let program = Self { group, guardian, stdout: received, stderr: last, drains };
        program.guardian.watch(program.leader())?;
        gate.write_all(b"go\n").await?;
        Ok(program)
    }

    /// The last lines of stderr.
    pub(crate) fn last_words(&self) -> String {
        let lines = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// Waits until the program itself has ended; it is not reaped.
    pub(crate) async fn leader_ended(leader: Pid) {
        leader_ended(leader).await;
    }

    /// The number of the program and its group.
    pub(crate) fn leader(&self) -> Pid {
        self.group.leader()
    }

    /// Asks the whole group to end; after `limit` it is ended.
    pub(crate) async fn stop(self, limit: Duration) -> io::Result<Stopped> {
        self.group.signal(Signal::TERM);
        self.await_end(limit).await
    }

    /// Asks the program itself to end, as a person does who knows its number: a wrapper hands that on, once. After
    /// `limit` the whole group is ended.
    pub(crate) async fn stop_leader(self, limit: Duration) -> io::Result<Stopped> {
        self.group.signal_leader(Signal::TERM);
        self.await_end(limit).await
    }

    async fn await_end(mut self, limit: Duration) -> io::Result<Stopped> {
        let (leader, drains) = (self.leader(), std::mem::take(&mut self.drains));
        let graceful = clock::within(limit, async {
            Self::leader_ended(leader).await;
            // The children have the same outputs: those are at their end when the last child is.
            for drain in drains {
                drop(drain.await);
            }
        })
        .await
        .is_some();
        let status = self.kill().await?;
        Ok(Stopped { status, graceful })
    }

    /// Ends the whole group at once.
    pub(crate) async fn kill(&mut self) -> io::Result<ExitStatus> {
        self.group.signal(Signal::KILL);
        self.guardian.forget(self.leader());
        let status = self.group.kill().await?;
        // Whatever was written before the end belongs to the last words. A child that left the group may hold
        // the outputs open, so this wait has a limit.
        clock::within(Duration::from_millis(500), async {
            for drain in std::mem::take(&mut self.drains) {
                drop(drain.await);
            }
        })
        .await;
        Ok(status)
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.group.signal(Signal::KILL);
        self.guardian.forget(self.leader());
    }
}

fn write_log(log: Option<&ServerLog>, line: &str) {
    if let Some(log) = log {
        log.write(line);
    }
}

/// Reads to the end and hands over the lines, without their ends.
async fn drain(mut source: impl AsyncRead + Unpin, mut take: impl FnMut(String)) {
    let mut buffer = vec![0; 8 * 1024];
    let mut line = Vec::new();
    // An output that can't be read any more has ended.
    while let Ok(count @ 1..) = source.read(&mut buffer).await {
        for &byte in &buffer[..count] {
            if byte == b'\n' {
                take(String::from_utf8_lossy(&std::mem::take(&mut line)).trim_end_matches('\r').to_owned());
            } else if line.len() < LONGEST_LINE {
                line.push(byte);
            }
        }
    }
    if !line.is_empty() {
        take(String::from_utf8_lossy(&line).into_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{is_running, path_env};

    const PATIENCE: Duration = Duration::from_secs(20);

    async fn start(script: &str) -> ProcessGroup {
        let (guardian, _) = Guardian::start(&std::env::temp_dir(), &path_env()).unwrap();
        let mut command = gated(Path::new("/bin/sh"));
        command.args(["-c", script]);
        ProcessGroup::start(command, Arc::new(guardian), None).await.unwrap()
    }

    /// A shell that sets a trap, starts a child, and does what comes `then`. The child says its number itself: a
    /// signal that reaches it earlier, while it still is a copy of its parent, would run into the parent's trap.
    async fn parent_and_child(trap: &str, then: &str) -> (ProcessGroup, Pid) {
        let mut group = start(&format!("trap {trap} TERM; sh -c 'echo $$; exec sleep 1000' & {then}")).await;
        let line = clock::within(PATIENCE, group.stdout.recv()).await.unwrap().unwrap();
        let child = Pid::from_raw(line.parse().unwrap()).unwrap();
        assert!(is_running(child));
        (group, child)
    }

    async fn ends(pid: Pid) {
        assert!(
            clock::within(PATIENCE, clock::until(|| !is_running(pid))).await.is_some(),
            "{pid:?} still runs"
        );
    }

    #[tokio::test]
    async fn stop_is_polite_first_and_takes_the_children_along() {
        let (group, child) = parent_and_child("'exit 7'", "wait").await;
        let stopped = group.stop(PATIENCE).await.unwrap();
        assert!(stopped.graceful);
        assert_eq!(stopped.status.code(), Some(7));
        ends(child).await;
    }

    #[tokio::test]
    async fn who_does_not_listen_is_ended_by_force() {
        let (group, child) = parent_and_child("''", "wait").await;
        let leader = group.leader();
        let stopped = group.stop(Duration::from_millis(50)).await.unwrap();
        assert!(!stopped.graceful);
        assert_eq!(stopped.status.code(), None, "ended by a signal");
        ends(child).await;
        ends(leader).await;
    }

    #[tokio::test]
    async fn a_child_that_outlives_its_parent_is_ended_too() {
        let (group, child) = parent_and_child("''", "").await;
        clock::within(PATIENCE, ProcessGroup::leader_ended(group.leader())).await.unwrap();
        let stopped = group.stop(Duration::from_millis(50)).await.unwrap();
        assert!(!stopped.graceful);
        assert!(stopped.status.success(), "the status is the parent's own");
        ends(child).await;
    }

    #[tokio::test]
    async fn dropping_ends_the_whole_group() {
        let (group, child) = parent_and_child("''", "wait").await;
        let leader = group.leader();
        drop(group);
        ends(child).await;
        ends(leader).await;
    }

    #[tokio::test]
    async fn long_lines_are_cut_and_only_the_last_are_kept() {
        let mut lines = Vec::new();
        let text = format!("{}\nb\r\nc", "a".repeat(LONGEST_LINE + 5));
        drain(text.as_bytes(), |line| lines.push(line)).await;
        assert_eq!(lines[0].len(), LONGEST_LINE);
        assert_eq!(lines[1..], ["b", "c"]);
        let group = start("i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo $i >&2; done").await;
        let words = Arc::clone(&group.stderr);
        assert!(group.stop(PATIENCE).await.is_ok());
        assert!(words.lock().unwrap().len() <= KEPT_LINES);
    }
}
