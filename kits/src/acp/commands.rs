//! An adapter for clients that are commands: a line for the shell for a prompt, and nothing to program. Such a client
//! starts its agent with each prompt, prints the answer, and is at its end with the turn.

use crate::adapter::{Adapter, Screen};
use crate::shell::{ended, filled};
use futures_util::future::BoxFuture;
use harness::clock::within;
use harness::protocol::RpcError;
use rustix::process::{Pid, Signal, kill_process_group};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A command that is to end is given so long before it is ended.
const GRACE: Duration = Duration::from_secs(2);
/// For what it has printed before its end.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// So much of what it prints is looked at; the rest is read and forgotten.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The line of a client. `{agent}`, `{prompt}`, `{folder}` and `{home}` are filled in, each as one word.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// What the client is called.
    #[serde(default = "nameless")]
    pub name: String,
    /// Sends a prompt to an agent and prints the answer, and nothing else. `{leave}` is one of the two below.
    pub prompt: String,
    /// What stands for `{leave}` when the person allows what the agent asks for.
    pub allow: Option<String>,
    /// What stands for `{leave}` when the person refuses it.
    pub refuse: Option<String>,
}

fn nameless() -> String {
    "a client".to_owned()
}

impl Commands {
    /// An adapter for it.
    ///
    /// # Errors
    /// The line can't work, or the machine has no room for the client's folder.
    pub fn adapter(self) -> Result<Arc<dyn Adapter>, String> {
        for needed in ["{agent}", "{prompt}"] {
            if !self.prompt.contains(needed) {
                return Err(format!("`prompt` says nowhere {needed}: where does it belong?"));
            }
        }
        let said = [self.prompt.contains("{leave}"), self.allow.is_some(), self.refuse.is_some()];
        if said.contains(&true) && said.contains(&false) {
            return Err(
                "`{leave}` in `prompt`, `allow` and `refuse` belong together: say all three, or none"
                    .to_owned(),
            );
        }
        let home = tempfile::Builder::new().prefix("standin-client-").tempdir();
        let home = home.map_err(|error| format!("failed to make the client's folder: {error}"))?;
        Ok(Arc::new(Client { commands: self, home, start: Mutex::default(), stops: watch::channel(0).0 }))
    }
}

struct Client {
    commands: Commands,
    /// A home of its own: it finds nothing of the person's there.
    home: TempDir,
    /// What the person has said of the agent.
    start: Mutex<Value>,
    /// How often the client was told to end.
    stops: watch::Sender<usize>,
}

impl Adapter for Client {
    fn introduce(&self) -> Value {
        let mut can = vec!["acp.core", "environment"];
        if self.commands.allow.is_some() {
            can.push("acp.permission");
        }
        json!({"name": self.commands.name, "clock": "real", "capabilities": can, "declares": {"agent": "late"}})
    }

    fn call(
        self: Arc<Self>,
        method: String,
        params: Value,
        screen: Screen,
    ) -> BoxFuture<'static, Result<Value, RpcError>> {
        Box::pin(async move {
            match method.as_str() {
                "client/start" => {
                    *self.start.lock().unwrap_or_else(PoisonError::into_inner) = params;
                    Ok(json!({"mode": "acp"}))
                }
                "chat/open" => {
                    self.start.lock().unwrap_or_else(PoisonError::into_inner)["cwd"] = params["cwd"].clone();
                    Ok(json!({"sessionId": ""}))
                }
                "chat/send" => self.send(&params, screen),
                "client/stop" => {
                    self.stops.send_modify(|stops| *stops += 1);
                    // Who is at work has ended when nobody looks any more.
                    self.stops.closed().await;
                    Ok(json!({}))
                }
                _ => Err(RpcError::unsupported(&method)),
            }
        })
    }
}

impl Client {
    /// Runs the command; the turn is over when it ends.
    fn send(&self, params: &Value, screen: Screen) -> Result<Value, RpcError> {
        let start = self.start.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let leave = if start["leave"] == "refuse" { &self.commands.refuse } else { &self.commands.allow };
        let line = self.commands.prompt.replace("{leave}", leave.as_deref().unwrap_or_default());
        let agent = [&start["command"]].into_iter().chain(start["args"].as_array().into_iter().flatten());
        let agent: Vec<String> = agent.map(text).collect();
        let words = [
            ("agent", agent.join(" ")),
            ("prompt", text(&params["text"])),
            ("folder", text(&start["cwd"])),
            ("home", self.home.path().display().to_string()),
        ];
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &filled(&line, &words)]).current_dir(text(&start["cwd"])).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let env: BTreeMap<String, String> = serde_json::from_value(start["env"].clone()).unwrap_or_default();
        command.envs(env);
        let child = command.spawn().map_err(|error| RpcError::failed(error.to_string()))?;
        let (chat, stops) = (params["chatId"].clone(), self.stops.subscribe());
        tokio::spawn(async move {
            let mut told = json!({"kind": "chatDone", "chatId": chat, "stop": "end_turn"});
            match over(child, stops).await {
                Ok((said, why)) => {
                    let said = said.strip_suffix('\n').unwrap_or(&said);
                    if !said.is_empty() {
                        screen.show(json!({"kind": "chatText", "chatId": chat, "delta": said}));
                    }
                    if let Some(why) = why {
                        (told["stop"], told["error"]) = (json!("error"), json!(why));
                    }
                }
                Err(error) => (told["stop"], told["error"]) = (json!("error"), json!(error.to_string())),
            }
            screen.show(told);
        });
        Ok(json!({}))
    }
}

/// What a command has printed, and how it has failed, if it has. When the person goes it is interrupted, as at a terminal.
async fn over(
    mut child: Child,
    mut stops: watch::Receiver<usize>,
) -> std::io::Result<(String, Option<String>)> {
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let (stdout, stderr) = (Printed::by(child.stdout.take()), Printed::by(child.stderr.take()));
    let by_itself = tokio::select! {
        status = child.wait() => Some(status?),
        _ = stops.changed() => None,
    };
    let status = match by_itself {
        Some(status) => status,
        None => {
            signal(group, Signal::INT);
            match within(GRACE, child.wait()).await {
                Some(status) => status?,
                None => {
                    signal(group, Signal::KILL);
                    child.wait().await?
                }
            }
        }
    };
    let (said, complained) = (stdout.all().await, stderr.all().await);
    // Half an answer is no reason: that belongs on stderr.
    let why = match (status.success(), complained.trim().is_empty()) {
        (true, _) => None,
        (false, false) => Some(ended(status, &complained)),
        (false, true) => Some(String::new()),
    };
    Ok((said, why))
}

/// What a program prints, as far as it has come. A child that it has left behind may hold its pipes for ever.
struct Printed {
    bytes: Arc<Mutex<Vec<u8>>>,
    read: JoinHandle<()>,
}

impl Printed {
    fn by(from: Option<impl AsyncRead + Unpin + Send + 'static>) -> Self {
        let bytes = Arc::<Mutex<Vec<u8>>>::default();
        let kept = Arc::clone(&bytes);
        let read = tokio::spawn(async move {
            let Some(mut from) = from else { return };
            let mut piece = vec![0; 16 * 1024];
            while let Ok(count @ 1..) = from.read(&mut piece).await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MOST_BYTES - kept.len();
                kept.extend_from_slice(&piece[..count.min(room)]);
            }
        });
        Self { bytes, read }
    }

    async fn all(self) -> String {
        // What has come by then is all.
        let _ended = within(LAST_WORDS, self.read).await;
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

fn signal(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // It may be gone already.
        let _gone = kill_process_group(group, signal);
    }
}
