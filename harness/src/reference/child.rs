//! The process of a server that the adapter has started: its lines, its end, and how it is ended.

use super::io::Input;
use crate::protocol::ServerSpawn;
use rustix::process::{Pid, Signal, kill_process_group};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

/// So much of the end of what it says on stderr is kept.
const MOST_WORDS: usize = 64 * 1024;
/// What its children hold open is not waited for.
const WORDS_LIMIT: Duration = Duration::from_millis(200);

/// What the core wants of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// It is asked to end, and ended when it does not.
    Stop,
    /// It is ended.
    Kill,
}

/// What is started, and how.
pub(super) struct Start {
    pub(super) number: u64,
    pub(super) spawn: ServerSpawn,
    pub(super) password: String,
    pub(super) whole_group: bool,
    /// How long it may take to end when it is asked to.
    pub(super) grace: Duration,
}

/// A process; and its group, where what it has started ends with it.
struct Process {
    child: Child,
    group: Option<Pid>,
}

impl Process {
    fn start(start: &Start) -> std::io::Result<Self> {
        let ServerSpawn { program, args, env, password_variable, directory, .. } = &start.spawn;
        let mut command = Command::new(program);
        command.args(args).envs(env).env(password_variable, &start.password).current_dir(directory);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if start.whole_group {
            command.process_group(0);
        }
        let child = command.spawn()?;
        let number = child.id().and_then(|number| Pid::from_raw(number.cast_signed()));
        Ok(Self { child, group: number.filter(|_| start.whole_group) })
    }

    fn ask_to_end(&mut self) {
        // One that has ended meanwhile needs no signal.
        let _ = match self.group {
            Some(group) => kill_process_group(group, Signal::TERM).is_ok(),
            None => self.child.start_kill().is_ok(),
        };
    }

    async fn kill(&mut self) -> std::io::Result<ExitStatus> {
        if let Some(group) = self.group {
            // What the program has started may live on when it has ended itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.start_kill();
        self.child.wait().await
    }
}

/// A server, from its start to its end. Who drops the orders wants it killed.
pub(super) async fn live(start: Start, mut orders: UnboundedReceiver<Order>, says: UnboundedSender<Input>) {
    let number = start.number;
    // Nobody listens any more when the adapter has ended.
    let say = |input| drop(says.send(input));
    let mut process = match Process::start(&start) {
        Ok(started) => started,
        Err(error) => return say(Input::ServerNotStarted { start: number, why: error.to_string() }),
    };
    say(Input::ServerStarted { start: number, password: start.password.clone() });
    let (stdout, stderr) = (process.child.stdout.take(), process.child.stderr.take());
    let words = tokio::spawn(last_words(stderr));
    let reading = async {
        let Some(stdout) = stdout else { return };
        let mut lines = BufReader::new(stdout).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            say(Input::ServerSaid { start: number, line });
        }
    };
    let mut asked = false;
    {
        let mut reading = std::pin::pin!(reading);
        let mut is_read = false;
        loop {
            tokio::select! {
                _ = process.child.wait() => break,
                () = &mut reading, if !is_read => is_read = true,
                order = orders.recv(), if !asked => match order {
                    Some(Order::Stop) => {
                        asked = true;
                        process.ask_to_end();
                        if within(start.grace, process.child.wait()).await.is_none() {
                            break;
                        }
                    }
                    // A process that was started alone is nobody's when its client is gone.
                    None if !start.whole_group => return,
                    Some(Order::Kill) | None => break,
                }
            }
        }
    }
    let status = process.kill().await;
    let words = within(WORDS_LIMIT, words).await.and_then(Result::ok).unwrap_or_default();
    let how = match status {
        Ok(status) => status.to_string(),
        Err(error) => format!("how is not known: {error}"),
    };
    say(Input::ServerEnded { start: number, how, words, port_taken: is_taken(&start.spawn.args) });
}

/// The end of what it said on its standard error. All of it is read, however much that is: a server whose reader stops
/// stops itself when the pipe is full.
async fn last_words(stderr: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut stderr) = stderr else { return String::new() };
    let (mut said, mut piece) = (Vec::new(), vec![0; 8 * 1024]);
    // What can't be read was not said.
    while let Ok(read @ 1..) = stderr.read(&mut piece).await {
        said.extend_from_slice(&piece[..read]);
        said.drain(..said.len().saturating_sub(MOST_WORDS));
    }
    String::from_utf8_lossy(&said).trim().to_owned()
}

/// Has somebody else the port that it was told to take?
fn is_taken(args: &[String]) -> bool {
    let port = args.iter().skip_while(|arg| *arg != "--port").nth(1);
    let port = port.and_then(|port| port.parse::<u16>().ok()).filter(|port| *port != 0);
    port.is_some_and(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err())
}

#[expect(clippy::disallowed_methods, reason = "a server that does not end is not waited for")]
async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn of_a_flood_the_end_is_kept() {
        let said = "on and on ".repeat(MOST_WORDS) + "and out";
        let words = last_words(Some(said.as_bytes())).await;
        assert!(words.ends_with("on and out") && words.len() <= MOST_WORDS, "{}", words.len());
    }
}
