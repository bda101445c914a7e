//! An agent's process: started in a group of its own, so that it ends with all that it has started; its stdout and stderr
//! are always read, whatever anybody does with what they say.

use super::Quirk;
use harness::clock::within;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{Mutex, mpsc, watch};

/// An agent that is told to end has so long, and then so long again.
const GRACE: Duration = Duration::from_millis(300);

/// What an agent said just before its end comes within this time.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// So many reads wait to be understood; then the agent waits.
const READS: usize = 16;

/// What is started.
#[derive(Debug, Clone, Default)]
pub(super) struct Spec {
    pub(super) command: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: PathBuf,
}

/// What comes of it.
#[derive(Debug)]
pub(super) enum Heard {
    Bytes(Vec<u8>),
    /// It has ended: how, in words.
    Gone(String),
}

/// One that runs.
pub(super) struct Process {
    stdin: Mutex<Option<ChildStdin>>,
    group: Option<Pid>,
    gone: watch::Sender<bool>,
    quirk: Quirk,
}

impl Process {
    /// Starts it; what it says comes in its order, and its end behind that.
    pub(super) fn start(
        spec: &Spec,
        quirk: Quirk,
    ) -> Result<(std::sync::Arc<Self>, mpsc::Receiver<Heard>), String> {
        let mut command = Command::new(&spec.command);
        command.args(&spec.args).current_dir(&spec.cwd).process_group(0);
        if !quirk.is("drops-environment") {
            command.envs(&spec.env);
        } else {
            command.envs(spec.env.iter().filter(|(name, _)| !name.starts_with("KIRO_")));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn();
        let mut child =
            child.map_err(|error| format!("failed to start {}: {error}", spec.command.display()))?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let (says, heard) = mpsc::channel(READS);
        let gone = watch::Sender::new(false);
        let process = Self { stdin: Mutex::new(child.stdin.take()), group, gone: gone.clone(), quirk };
        tokio::spawn(listen(child, says, gone, quirk));
        Ok((std::sync::Arc::new(process), heard))
    }

    /// Writes, as long as somebody reads. Who does not read is not waited for longer than `limit`.
    pub(super) async fn write(&self, line: &[u8], limit: Duration) -> Result<(), String> {
        let mut stdin = self.stdin.lock().await;
        let Some(stdin) = stdin.as_mut() else { return Err("the agent's stdin is closed".to_owned()) };
        let written = async {
            stdin.write_all(line).await?;
            stdin.flush().await
        };
        match within(limit, written).await {
            None => Err("the agent does not read".to_owned()),
            Some(Err(error)) => Err(format!("the agent does not read any more: {error}")),
            Some(Ok(())) => Ok(()),
        }
    }

    /// Ends it: its stdin is closed, then it is asked to end, then it is made to, with all that it has started.
    pub(super) async fn end(&self) {
        drop(self.stdin.lock().await.take());
        if self.quirk.is("trusts-agents-to-end") {
            return;
        }
        if !self.is_gone_within(GRACE).await {
            self.signal(Signal::TERM);
            self.is_gone_within(GRACE).await;
        }
        // Its children may hold on when it is gone.
        self.signal(Signal::KILL);
        self.is_gone_within(GRACE).await;
    }

    fn signal(&self, signal: Signal) {
        let Some(group) = self.group else { return };
        // One that is gone needs no signal.
        let _gone = match self.quirk.is("kills-leader-alone") {
            true if *self.gone.borrow() => return,
            true => kill_process(group, signal),
            false => kill_process_group(group, signal),
        };
    }

    async fn is_gone_within(&self, limit: Duration) -> bool {
        let mut gone = self.gone.subscribe();
        within(limit, async { gone.wait_for(|gone| *gone).await.is_ok() }).await.unwrap_or(false)
    }
}

async fn listen(mut child: Child, says: mpsc::Sender<Heard>, gone: watch::Sender<bool>, quirk: Quirk) {
    let stderr = if quirk.is("stderr-unread") { None } else { child.stderr.take() };
    if let Some(mut stderr) = stderr {
        tokio::spawn(async move {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(1..) = stderr.read(&mut buffer).await {}
        });
    }
    let mut stdout = child.stdout.take();
    let mut buffer = vec![0; 64 * 1024];
    let ended = loop {
        let Some(pipe) = stdout.as_mut() else { break child.wait().await };
        tokio::select! {
            biased;
            read = pipe.read(&mut buffer) => match read {
                Ok(count @ 1..) => drop(says.send(Heard::Bytes(buffer[..count].to_vec())).await),
                _ => stdout = None,
            },
            // A child that it leaves behind may hold the pipe for ever.
            ended = child.wait() => break ended,
        }
    };
    // What stands in the pipe was said before.
    while let Some(pipe) = stdout.as_mut() {
        match within(LAST_WORDS, pipe.read(&mut buffer)).await {
            Some(Ok(count @ 1..)) => drop(says.send(Heard::Bytes(buffer[..count].to_vec())).await),
            _ => break,
        }
    }
    let how = match ended {
        Ok(status) => format!("the agent has ended ({status})"),
        Err(error) => format!("the agent is lost: {error}"),
    };
    gone.send_replace(true);
    // Nobody may listen any more.
    says.send(Heard::Gone(how)).await.ok();
}
