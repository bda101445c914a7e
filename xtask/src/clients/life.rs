//! One life: a script in JavaScript that uses a client, and says what it saw and what it asked, a line for each.

use fixtures::ServerKind;
use harness::stage::Stage;
use recorder::drive::Backstage as _;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

/// No life is this long; one that is waits for what never comes.
const LONGEST: Duration = Duration::from_secs(900);
/// A life that dies says why; more than this nobody reads.
const LAST_WORDS: u64 = 4_000;

/// What is run.
pub(super) struct Script {
    pub(super) life: PathBuf,
    /// Where the client is: what a life of its kind knows of the world.
    pub(super) client: Value,
}

/// What was seen and asked.
#[derive(Debug, Default)]
pub(super) struct Life {
    /// Each check by its name, in order.
    pub(super) checks: Vec<(String, Value)>,
    /// Each request, in order.
    pub(super) requests: Vec<Value>,
}

/// A line of a life.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Said {
    Check {
        name: String,
        saw: Value,
    },
    Request(Value),
    /// The model may go on.
    Gate(String),
    Done,
}

impl Script {
    /// Lives it with a server; what it says is kept in `file`, too.
    pub(super) async fn lived(&self, stage: &Stage, server: ServerKind, file: &Path) -> Result<Life, String> {
        let mut child = self.started().map_err(|error| format!("failed to start node: {error}"))?;
        let whole = recorder::clock::within(LONGEST, self.heard(&mut child, stage, server, file)).await;
        // What is still running has nothing more to say.
        child.start_kill().ok();
        whole.unwrap_or_else(|| Err(format!("it was not done within {} s", LONGEST.as_secs())))
    }

    fn started(&self) -> std::io::Result<Child> {
        Command::new("node")
            .arg(&self.life)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }

    async fn heard(
        &self,
        child: &mut Child,
        stage: &Stage,
        server: ServerKind,
        file: &Path,
    ) -> Result<Life, String> {
        let failed = |error: std::io::Error| format!("lost the life: {error}");
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("node has no pipes".to_owned());
        };
        // By a pipe, since everybody may read a command line.
        stdin.write_all(format!("{}\n", self.world(stage, server)).as_bytes()).await.map_err(failed)?;
        let mut kept = std::fs::File::create(file)
            .map_err(|error| format!("failed to write {}: {error}", file.display()))?;
        let mut lines = BufReader::new(stdout).lines();
        let mut life = Life::default();
        while let Some(line) = lines.next_line().await.map_err(failed)? {
            let said = serde_json::from_str(&line)
                .map_err(|error| format!("the life said what no life says: {error}: {line}"))?;
            writeln!(kept, "{line}").map_err(failed)?;
            match said {
                Said::Check { name, saw } => life.checks.push((name, saw)),
                Said::Request(request) => life.requests.push(request),
                Said::Gate(name) => stage.open_gate(&name),
                Said::Done => return Ok(life),
            }
        }
        let mut words = String::new();
        stderr.take(LAST_WORDS).read_to_string(&mut words).await.map_err(failed)?;
        let after = life.checks.last().map_or("the beginning", |(name, _)| name);
        Err(format!("it died after '{after}': {}", fixtures::redact::clean(&words)))
    }

    /// All that a life knows of the world.
    fn world(&self, stage: &Stage, server: ServerKind) -> Value {
        let mut world = json!({
            "server": server.word(),
            "url": stage.url,
            "user": stage.credentials.user,
            "password": stage.credentials.password,
            "workspace": stage.workspace,
        });
        for (name, value) in self.client.as_object().into_iter().flatten() {
            world[name] = value.clone();
        }
        world
    }
}
