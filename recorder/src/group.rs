//! A program that leads a process group, so that its children can be ended with it: `kilo` is a wrapper, and its
//! child would live on and keep the port; an adapter may be started by a script.
//!
//! Only what was started here is ever ended. The number of a group may be given to strangers once its leader has
//! been reaped and its members are gone, so the leader is reaped last: after the group has been killed.

use crate::clock;
use crate::strays::Mark;
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
    /// How those are known that have left the group.
    mark: Option<Mark>,
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
        Ok(Self { child, leader, reaped: false, mark: None })
    }

    /// Starts a client whose children end with it wherever they have gone: also those in sessions of their own.
    ///
    /// # Errors
    /// The system can't start it.
    pub fn start_client(mut command: Command) -> io::Result<Self> {
        let mark = Mark::new();
        let (name, value) = mark.variable();
        command.env(name, value);
        let mut group = Self::start(command)?;
        group.mark = Some(mark);
        Ok(group)
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
        self.end_strays();
        let status = self.child.wait().await?;
        self.reaped = true;
        Ok(status)
    }

    /// Ends those of a client that have left its group.
    fn end_strays(&self) {
        if let Some(mark) = &self.mark {
            mark.end_all();
        }
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
        if !self.reaped {
            self.end_strays();
        }
    }
}

/// Waits until the leader of a group has ended; it is not reaped.
pub(crate) async fn leader_ended(leader: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    clock::until(|| !matches!(waitid(WaitId::Pid(leader), options), Ok(None) | Err(rustix::io::Errno::INTR)))
        .await;
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;
    use std::process::Stdio;
    use tokio::io::{AsyncBufReadExt as _, BufReader};

    /// Two that sleep in sessions of their own, one of them started by nobody who lives.
    const STRAYS: &str = "
        echo 'echo $$; exec sleep 600' > \"$1\"
        setsid sh \"$1\" &
        setsid sh -c 'sh \"$1\" &' sh \"$1\" &
        wait";

    fn lives(process: i32) -> bool {
        fs::read(format!("/proc/{process}/environ")).is_ok_and(|environment| !environment.is_empty())
    }

    async fn strays(group: &mut Group) -> Vec<i32> {
        let mut lines = BufReader::new(group.take_stdout().unwrap()).lines();
        let mut numbers = Vec::new();
        while numbers.len() < 2 {
            numbers.push(lines.next_line().await.unwrap().unwrap().parse().unwrap());
        }
        numbers
    }

    fn command(script: &Path) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", STRAYS, "sh"]).arg(script).stdout(Stdio::piped());
        command
    }

    #[tokio::test]
    async fn children_of_a_client_end_with_it_also_in_sessions_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let start = |name: &str| Group::start_client(command(&folder.path().join(name))).unwrap();
        let (mut killed, mut dropped) = (start("a.sh"), start("b.sh"));
        let (first, second) = (strays(&mut killed).await, strays(&mut dropped).await);
        // Each has told its number before it became the program that sleeps, and has no environment in between.
        clock::until(|| first.iter().chain(&second).all(|number| lives(*number))).await;
        killed.kill().await.unwrap();
        clock::until(|| !first.iter().any(|number| lives(*number))).await;
        assert!(second.iter().all(|number| lives(*number)), "whose mark is another lives on");
        drop(dropped);
        clock::until(|| !second.iter().any(|number| lives(*number))).await;
    }
}
