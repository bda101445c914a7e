//! A program that leads a process group, so that its children can be ended with it: `kilo` is a wrapper, and its
//! child would live on and keep the port; an adapter may be started by a script.
//!
//! Only what was started here is ever ended. The number of a group may be given to strangers once its leader has
//! been reaped and its members are gone, so the leader is reaped last: after the group has been killed.

use crate::clock;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use std::io;
use std::process::ExitStatus;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// A running program and its children. Dropping it ends them all.
#[derive(Debug)]
pub struct Group {
    child: Child,
    leader: Pid,
    reaped: bool,
}

impl Group {
    /// Starts a program in a group of its own.
    ///
    /// # Errors
    /// The system can't start it.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let leader = leader.ok_or_else(|| io::Error::other("the new process has no number"))?;
        Ok(Self { child, leader, reaped: false })
    }

    /// Its input, where it has a pipe for that; once.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Its output, where it has a pipe for that; once.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Its error output, where it has a pipe for that; once.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Waits until the program itself has ended; it is not reaped, and its children may live.
    pub async fn ended(&self) {
        leader_ended(self.leader).await;
    }

    /// Ends the whole group at once; tells how the program itself ended.
    ///
    /// # Errors
    /// Its end can't be learned.
    pub async fn kill(&mut self) -> io::Result<ExitStatus> {
        self.signal(Signal::KILL);
        let status = self.child.wait().await?;
        self.reaped = true;
        Ok(status)
    }

    /// The number of the program, by which the system tells of it.
    #[must_use]
    pub fn number(&self) -> i32 {
        self.leader.as_raw_nonzero().get()
    }

    /// The number of the program and its group.
    pub(crate) fn leader(&self) -> Pid {
        self.leader
    }

    /// Asks the program itself, and none of its children. One that is gone already needs no signal.
    pub(crate) fn signal_leader(&self, signal: Signal) {
        if !self.reaped {
            kill_process(self.leader, signal).ok();
        }
    }

    /// A group that is gone already needs no signal.
    pub(crate) fn signal(&self, signal: Signal) {
        if !self.reaped {
            kill_process_group(self.leader, signal).ok();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Waits until the leader of a group has ended; it is not reaped.
pub(crate) async fn leader_ended(leader: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    clock::until(|| !matches!(waitid(WaitId::Pid(leader), options), Ok(None) | Err(rustix::io::Errno::INTR)))
        .await;
}
