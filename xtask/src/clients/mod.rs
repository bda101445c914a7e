//! `cargo xtask clients`: real clients live their usual life with a real server and with the stand-in, side by side.
//! What they see and what they ask must be the same.

mod compare;
mod life;

use crate::outcome::Outcome;
use crate::pinned;
use clap::Args;
use compare::{Account, told};
use fixtures::ServerKind;
use fixtures::recording::{FORMAT, FileKind, Header, Performer, Provenance, Recording};
use fixtures::scenario::Scenario;
use harness::machine::Machine;
use harness::performance::Program;
use harness::stage::Stage;
use harness::{complain, say};
use life::{Life, Script};
use mock_server::{MODEL_PAUSE, Options};
use recorder::ledger::Room;
use recorder::live::Live;
use recorder::real_servers;
use recorder::{Limits, Loopback, Proxy, Sandbox};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Where the lives are, and what both servers play for them.
const LIVES: &str = "xtask/clients";
/// What each client saw is left here.
const KEPT: &str = "target/clients";
/// Who stands in for the server that was recorded.
const REPLAY: &str = "the replay";
/// What was recorded of a client.
const RECORDING: &str = "recording.jsonl";
/// So many differences are told; the others stand beside what was seen.
const SHOWN: usize = 12;

/// Let real clients live with both.
#[derive(Debug, Args)]
#[command(
    after_help = "The official SDKs, version 1 and version 2 of each, are used as programs use them: every method, turns,
permissions, questions, aborts, streams, errors; `kilo run --attach` and `opencode run --attach` as persons and scripts
use them; `kilo attach` and `opencode attach`, the screens, in tmux. Each use is a check; it holds when the client sees the same from the
real server and from the stand-in. What differs is seen with the real server once more: where that differs from itself,
nobody can be equal. What was seen is left in target/clients:

    cargo xtask clients
    cargo xtask clients --client kilo-v2

With --proxied the real server is compared with itself behind the proxy of `standin record --proxy`; what that recorded
is left there, too:

    cargo xtask clients --proxied

With --replayed each client is recorded so, and lives the same life with a replay of its own recording:

    cargo xtask clients --replayed

Exit codes: 0 all equal; 1 something differs; 2 misuse; 3 a server or client can't be had."
)]
pub(crate) struct Arguments {
    /// Only this client, as kilo-v2, kilo-run or kilo-tui. Repeatable.
    #[arg(long, value_name = "NAME", value_parser = client)]
    client: Vec<Client>,
    /// Let them live with the real server through the recording proxy instead of the stand-in.
    #[arg(long)]
    proxied: bool,
    /// Record them with the real server, and let them live the same life with a replay of that.
    #[arg(long, conflicts_with = "proxied")]
    replayed: bool,
    /// The folder whose node_modules hold the servers, with a folder `clients` for the clients; made and filled when
    /// absent [default: the user's cache].
    #[arg(long, value_name = "DIR")]
    npm_dir: Option<PathBuf>,
}

impl Arguments {
    /// All clients, with the stand-in or with the proxied server.
    pub(crate) fn everything(proxied: bool) -> Self {
        Self { client: Vec::new(), proxied, replayed: false, npm_dir: None }
    }

    /// The screens alone, with the stand-in.
    pub(crate) fn screens() -> Self {
        let screens = CLIENTS.into_iter().filter(|client| client.kind == Kind::Tui);
        Self { client: screens.collect(), proxied: false, replayed: false, npm_dir: None }
    }
}

/// A client, and whose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Client {
    name: &'static str,
    server: ServerKind,
    kind: Kind,
}

/// What stands in for the real server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum With {
    StandIn,
    /// Itself, behind the recording proxy.
    Proxy,
    /// The recording of the same client.
    Replay,
}

/// What it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The SDK, by one of its package's exports.
    Sdk { export: &'static str },
    /// The server's own program as a client that prompts and prints, `run --attach`.
    Run,
    /// The server's own program as a screen in tmux, `attach`.
    Tui,
}

const CLIENTS: [Client; 8] = [
    sdk("kilo-v1", ServerKind::Kilo, "./client"),
    sdk("kilo-v2", ServerKind::Kilo, "./v2/client"),
    Client { name: "kilo-run", server: ServerKind::Kilo, kind: Kind::Run },
    Client { name: "kilo-tui", server: ServerKind::Kilo, kind: Kind::Tui },
    sdk("opencode-v1", ServerKind::Opencode, "./client"),
    sdk("opencode-v2", ServerKind::Opencode, "./v2/client"),
    Client { name: "opencode-run", server: ServerKind::Opencode, kind: Kind::Run },
    Client { name: "opencode-tui", server: ServerKind::Opencode, kind: Kind::Tui },
];

const fn sdk(name: &'static str, server: ServerKind, export: &'static str) -> Client {
    Client { name, server, kind: Kind::Sdk { export } }
}

/// The SDK's package and its release.
const fn package(server: ServerKind) -> (&'static str, &'static str) {
    match server {
        ServerKind::Kilo => ("@kilocode/sdk", "7.4.20"),
        ServerKind::Opencode => ("@opencode-ai/sdk", "1.18.33"),
    }
}

fn client(name: &str) -> Result<Client, String> {
    let names = || CLIENTS.map(|client| client.name).join(", ");
    CLIENTS.into_iter().find(|client| client.name == name).ok_or_else(|| format!("there are {}", names()))
}

/// Runs them; needs node, and npm the first time.
pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return Outcome::Untestable(format!("failed to start a runtime: {error}")),
    };
    let machine = Machine::of_this_process();
    let npm_dir = arguments.npm_dir.clone().unwrap_or_else(|| machine.default_npm_dir());
    let scenario = match scenario(root) {
        Ok(scenario) => scenario,
        Err(why) => return Outcome::Untestable(why),
    };
    let clients = if arguments.client.is_empty() { CLIENTS.to_vec() } else { arguments.client.clone() };
    let with = match (arguments.proxied, arguments.replayed) {
        (false, false) => With::StandIn,
        (true, _) => With::Proxy,
        (false, true) => With::Replay,
    };
    let mut outcomes = Vec::new();
    for client in &clients {
        let pair = match Pair::of(*client, &npm_dir, &machine, &scenario, root) {
            Ok(pair) => pair,
            Err(why) => {
                outcomes.push(Outcome::Untestable(why));
                continue;
            }
        };
        outcomes.push(match runtime.block_on(pair.compared(with)) {
            Ok(account) => judged(client.name, &account),
            Err(why) => Outcome::Fails(format!("{}: {why}", client.name)),
        });
    }
    let passed = outcomes.iter().filter(|outcome| **outcome == Outcome::Holds).count();
    let requests = if passed == clients.len() { ", requests equal" } else { "" };
    say!("{passed} of {} clients pass{requests}", clients.len());
    Outcome::of_all(outcomes)
}

fn scenario(root: &Path) -> Result<Scenario, String> {
    let path = root.join(LIVES).join("life.toml");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("failed to read {}: {error}", path.display()))?;
    Scenario::parse(&path, &text).map_err(|error| error.to_string())
}

fn judged(name: &str, account: &Account) -> Outcome {
    let line = format!("{name}: {}", account.summary());
    if account.holds() {
        say!("✓ {line}");
        return Outcome::Holds;
    }
    say!("✗ {line}");
    for line in account.differences().take(SHOWN) {
        say!("  {line}");
    }
    Outcome::Fails(format!("{line}; see {KEPT}/{name}"))
}

/// One client, and where it lives twice.
struct Pair {
    client: Client,
    script: Script,
    scenario: Scenario,
    program: Program,
    folder: PathBuf,
}

impl Pair {
    fn of(
        client: Client,
        npm_dir: &Path,
        machine: &Machine,
        scenario: &Scenario,
        root: &Path,
    ) -> Result<Self, String> {
        let program = pinned::program(client.server, npm_dir, machine)?;
        let (life, known) = match client.kind {
            Kind::Sdk { export } => {
                let installs = |what: &str| complain!("{what}");
                let (name, release) = package(client.server);
                // In a folder of their own: another release of a client must not disturb the servers.
                let found = real_servers::library(name, release, &npm_dir.join("clients"), installs);
                let package = found.map_err(|error| error.to_string())?;
                ("life.mjs", json!({"package": package, "export": export}))
            }
            Kind::Run => ("run.mjs", json!({"program": program.path})),
            Kind::Tui => ("tui.mjs", json!({"program": program.path})),
        };
        let script = Script { life: root.join(LIVES).join(life), client: known };
        let folder = root.join(KEPT).join(client.name);
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("failed to make {}: {error}", folder.display()))?;
        Ok(Self { client, script, scenario: scenario.clone(), program, folder })
    }

    async fn compared(&self, with: With) -> Result<Account, String> {
        let account = match with {
            With::StandIn => {
                let real = self.with_real_server("real.jsonl").await?;
                let mut account = Account::of(&real, &self.with_stand_in().await?, "the stand-in");
                self.leave_out_its_own(&mut account, &real).await?;
                account
            }
            With::Proxy => {
                let real = self.with_real_server("real.jsonl").await?;
                let other = "the proxied server";
                let mut account = Account::of(&real, &self.through_proxy("proxied.jsonl").await?, other);
                self.leave_out_its_own(&mut account, &real).await?;
                if !account.holds() {
                    let next = self.through_proxy("proxied-again.jsonl").await?;
                    account.leave_out_what_passes(&Account::of(&real, &next, other));
                }
                account
            }
            With::Replay => self.replayed().await?,
        };
        let file = self.folder.join("differences.txt");
        std::fs::write(&file, told(account.differences()))
            .map_err(|error| format!("failed to write {}: {error}", file.display()))?;
        Ok(account)
    }

    /// Leaves out what the real server does otherwise the next time.
    async fn leave_out_its_own(&self, account: &mut Account, real: &Life) -> Result<(), String> {
        if !account.holds() {
            account.leave_out_what_differs(real, &self.with_real_server("real-again.jsonl").await?);
        }
        Ok(())
    }

    async fn with_stand_in(&self) -> Result<Life, String> {
        let mut options = Options::scenario(self.client.server, self.scenario.clone());
        options.model_pause = MODEL_PAUSE;
        let stage = Stage::of_stand_in(options).await.map_err(|error| format!("the stand-in: {error}"))?;
        self.lived(stage, "stand-in.jsonl").await
    }

    async fn with_real_server(&self, name: &str) -> Result<Life, String> {
        self.lived(self.real_server().await?, name).await
    }

    async fn real_server(&self) -> Result<Stage, String> {
        let nobody = Arc::new(|_: &_, _: &_| {});
        Stage::of_program(&self.scenario, self.client.server, &self.program, &Limits::default(), nobody)
            .await
            .map_err(|error| format!("the real server: {error}"))
    }

    /// With a real server behind the recording proxy.
    async fn through_proxy(&self, name: &str) -> Result<Life, String> {
        let mut stage = self.real_server().await?;
        let life = self.recorded(&mut stage, name).await;
        closed(stage, name, life).await
    }

    /// With a real server behind the recording proxy, and then with its recording.
    async fn replayed(&self) -> Result<Account, String> {
        let mut stage = self.real_server().await?;
        let recorded = self.recorded(&mut stage, "recorded.jsonl").await;
        let account = match &recorded {
            Ok(recorded) => self.held_against_replays(recorded, &stage.workspace).await,
            Err(_) => Ok(Account::of(&Life::default(), &Life::default(), REPLAY)),
        };
        // The folder of the recorded server is there until now.
        closed(stage, "recorded.jsonl", recorded).await?;
        account
    }

    async fn held_against_replays(&self, recorded: &Life, workspace: &str) -> Result<Account, String> {
        let mut account =
            Account::of(recorded, &self.with_recording("replayed.jsonl", workspace).await?, REPLAY);
        if !account.holds() {
            let next = self.with_recording("replayed-again.jsonl", workspace).await?;
            account.leave_out_what_passes(&Account::of(recorded, &next, REPLAY));
        }
        Ok(account)
    }

    /// What the client finds in its folder is as it was before it came.
    fn laid_again(&self, workspace: &str) -> Result<(), String> {
        let fresh =
            Sandbox::create(&self.scenario, &self.program.path_env).map_err(|error| error.to_string())?;
        std::fs::remove_dir_all(workspace)
            .and_then(|()| std::fs::rename(fresh.workspace(), workspace))
            .map_err(|error| format!("failed to lay {workspace} again: {error}"))
    }

    async fn with_recording(&self, name: &str, workspace: &str) -> Result<Life, String> {
        self.laid_again(workspace)?;
        let path = self.folder.join(RECORDING);
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let recording = Recording::parse(&path, &text).map_err(|error| error.to_string())?;
        let stage = Stage::of_stand_in(Options::replay(recording)).await;
        self.lived(stage.map_err(|error| format!("the replay: {error}"))?, name).await
    }

    async fn recorded(&self, stage: &mut Stage, name: &str) -> Result<Life, String> {
        let header = Header {
            format: FORMAT,
            kind: FileKind::Recording,
            server: self.client.server,
            version: stage.version.clone(),
            performer: Performer::Real,
            scenario: format!("live/{}", self.client.name),
            workspace: stage.workspace.clone(),
            by: concat!("standin ", env!("CARGO_PKG_VERSION")).to_owned(),
            provenance: Provenance::default(),
        };
        let mut secrets = stage.secrets.clone();
        let live = Live::begin(&self.folder.join(RECORDING), header, secrets.clone());
        let live = live.map_err(|error| error.to_string())?;
        let proxy = Proxy::start(0, Loopback::parse(&stage.url)?, live.tape(), Room::default());
        let proxy = proxy.await.map_err(|error| format!("the proxy: {error}"))?;
        stage.url = proxy.url();
        let life = self.script.lived(stage, self.client.server, &self.folder.join(name)).await;
        let account = proxy.end().await;
        secrets.add_all(&account.secrets);
        live.finish(&secrets).map_err(|error| error.to_string())?;
        life
    }

    async fn lived(&self, stage: Stage, name: &str) -> Result<Life, String> {
        let life = self.script.lived(&stage, self.client.server, &self.folder.join(name)).await;
        closed(stage, name, life).await
    }
}

/// The life that was lived on a stage, when that ends well, too.
async fn closed(stage: Stage, name: &str, life: Result<Life, String>) -> Result<Life, String> {
    let closed = stage.close(&Limits::default()).await;
    let life = life.map_err(|why| format!("{name}: {why}"))?;
    closed.map_err(|error| format!("{name}: {error}"))?;
    Ok(life)
}
