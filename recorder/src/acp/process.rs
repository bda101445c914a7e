//! An agent as a program: its pipes untouched, its group known to the guardian before it runs.

use crate::clock::{self, Limits};
use crate::group::{Group, leader_ended};
use crate::guardian::Guardian;
use crate::launch::{LaunchError, find, surround};
use crate::sandbox::Sandbox;
use fixtures::ServerKind;
use rustix::process::Signal;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

/// A shell that becomes the agent once it is told so; what follows on its stdin is the agent's.
const GATE: &str = "IFS= read -r go || exit 1; exec \"$0\" \"$@\"";

/// A running agent and its children. Dropping it ends them all.
#[derive(Debug)]
pub struct AgentProcess {
    group: Group,
    guardian: Arc<Guardian>,
}

/// The ends of an agent's pipes that are not its own.
#[derive(Debug)]
pub struct Pipes {
    /// What it reads.
    pub stdin: ChildStdin,
    /// What it says.
    pub stdout: ChildStdout,
    /// What it says to whoever looks.
    pub stderr: ChildStderr,
}

/// A real agent that is to be started in a sandbox.
#[derive(Debug, Clone)]
pub struct AgentSpec {
    /// The program: an absolute path, or a name on `path_env`.
    pub program: PathBuf,
    /// Arguments before `acp`.
    pub args: Vec<String>,
    /// Which server's agent it is, or behaves like.
    pub server: ServerKind,
    /// Address of the model's endpoint, without `/v1`.
    pub model_url: String,
    /// The agent's `PATH`.
    pub path_env: OsString,
}

/// How an agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl From<ExitStatus> for Ended {
    fn from(status: ExitStatus) -> Self {
        Self { code: status.code(), signal: status.signal() }
    }
}

/// The command of an agent that [`AgentProcess::start`] can start; arguments and environment are added to it.
pub(crate) fn gated(program: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", GATE]).arg(program);
    command
}

impl AgentProcess {
    /// Starts what [`gated`] has made.
    ///
    /// # Errors
    /// The system can't start it.
    pub(crate) async fn start(mut command: Command, guardian: Arc<Guardian>) -> io::Result<(Self, Pipes)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::start(command)?;
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (group.take_stdin(), group.take_stdout(), group.take_stderr())
        else {
            return Err(io::Error::other("the new process has no pipes"));
        };
        let agent = Self { group, guardian };
        agent.guardian.watch(agent.group.leader())?;
        stdin.write_all(b"go\n").await?;
        Ok((agent, Pipes { stdin, stdout, stderr }))
    }

    /// Starts a real agent at home in a sandbox.
    pub async fn launch(spec: &AgentSpec, sandbox: &Sandbox) -> Result<(Self, Pipes), LaunchError> {
        let program = find(&spec.program, &spec.path_env)?;
        let mut command = gated(&program);
        let port = crate::launch::free_port()?.to_string();
        command.args(&spec.args).args(["acp", "--hostname", "127.0.0.1", "--port", &port]);
        surround(&mut command, spec.server, &spec.model_url, sandbox, &spec.path_env);
        Self::start(command, sandbox.guardian())
            .await
            .map_err(|source| LaunchError::Start { program, source })
    }

    /// Passes a signal on, to the agent alone.
    pub(crate) fn signal(&self, signal: Signal) {
        self.group.signal_leader(signal);
    }

    /// Waits until the agent itself has ended; its children may live.
    pub async fn ended(&self) {
        leader_ended(self.group.leader()).await;
    }

    /// Waits until it ends by itself, as one does whose stdin has ended; after [`Limits::stop`] it is ended. Its children
    /// are ended in any case.
    ///
    /// # Errors
    /// Its end can't be learned.
    pub async fn stop(self, limits: &Limits) -> io::Result<Ended> {
        if clock::within(limits.stop, self.ended()).await.is_none() {
            self.group.signal_leader(Signal::TERM);
            clock::within(Duration::from_secs(2), self.ended()).await;
        }
        self.reap().await
    }

    /// Ends whatever is left of it.
    ///
    /// # Errors
    /// Its end can't be learned.
    pub async fn reap(mut self) -> io::Result<Ended> {
        self.group.signal(Signal::KILL);
        self.guardian.forget(self.group.leader());
        self.group.kill().await.map(Ended::from)
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.group.signal(Signal::KILL);
        self.guardian.forget(self.group.leader());
    }
}
