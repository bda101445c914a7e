//! `cargo xtask walk`: random walks, or scenarios from anywhere, performed by the real servers and by the stand-in, and
//! compared. What differs is performed by the real server once more: where it differs from itself, nobody can be equal.

use crate::outcome::Outcome;
use crate::pinned;
use clap::Args;
use fixtures::acp::transcript::differences as acp_differences;
use fixtures::compare::{Difference, Sides};
use fixtures::floats::Floats;
use fixtures::recording::{Line, Recording};
use fixtures::redact::Secrets;
use fixtures::scenario::Scenario;
use fixtures::{ServerKind, catalog};
use harness::acp::performance::as_performed;
use harness::machine::Machine;
use harness::performance::{Piece, Program};
use harness::say;
use harness::truth::{differences, stand_in_limits};
use harness::walk::Walk;
use recorder::Limits;
use recorder::keep::keep;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where walks are written that the stand-in does not walk as the real server does.
const KEPT: &str = "target/walk";
/// No turn of a walk takes longer.
const IDLE: Duration = Duration::from_secs(30);
/// So many differences tell where to look; the others mostly follow from them.
const SHOWN: usize = 6;

/// Walk at random.
#[derive(Debug, Args)]
#[command(
    after_help = "A person with a seed prompts, answers questions, commands, sums up, forks, reverts, renames, deletes and is
wrong, with a real server and with the stand-in; what differs is a mistake of the stand-in, unless the real server differs there from itself in a
second run. The walk and the time lines are left in target/walk:

    cargo xtask walk --seed 1 --count 20
    cargo xtask walk --seed 7 --server kilo --steps 15
    cargo xtask walk --scenario target/walk/kilo-7/walk.toml --scenario mine.toml
    cargo xtask walk --acp --scenario mine.toml

Exit codes: 0 all equal; 1 something differs; 2 misuse; 3 a server can't be had."
)]
pub(crate) struct Arguments {
    /// The first walk's seed; each further one has the next.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many walks.
    #[arg(long, default_value_t = 5)]
    count: u64,
    /// About how many steps each has.
    #[arg(long, default_value_t = 60)]
    steps: usize,
    /// Instead of a random walk: the scenario in this file. Repeatable.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "count", "steps"])]
    scenario: Vec<PathBuf>,
    /// The agents on stdin and stdout (`kilo acp`, `opencode acp`) in place of the servers.
    #[arg(long, requires = "scenario")]
    acp: bool,
    /// Only this server: kilo or opencode.
    #[arg(long)]
    server: Option<ServerKind>,
    /// The folder whose node_modules hold the servers; made and filled when absent [default: the user's cache].
    #[arg(long, value_name = "DIR")]
    npm_dir: Option<PathBuf>,
}

/// Walks; needs npm the first time.
pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let machine = Machine::of_this_process();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return Outcome::Untestable(format!("failed to start a runtime: {error}")),
    };
    let servers = arguments.server.map_or_else(|| ServerKind::ALL.to_vec(), |server| vec![server]);
    let npm_dir = arguments.npm_dir.clone().unwrap_or_else(|| machine.default_npm_dir());
    let mut outcomes = Vec::new();
    for server in servers {
        let program = match pinned::program(server, &npm_dir, &machine) {
            Ok(program) => program,
            Err(why) => {
                outcomes.push(Outcome::Untestable(why));
                continue;
            }
        };
        let walks = match walks(arguments, server) {
            Ok(walks) => walks,
            Err(why) => return Outcome::Misuse(why),
        };
        for walk in &walks {
            let scenario = if arguments.acp { as_performed(&walk.scenario) } else { walk.scenario.clone() };
            let piece = Piece { name: walk.name.clone(), scenario, server };
            let way = if arguments.acp { "acp-" } else { "" };
            let folder = root.join(KEPT).join(format!("{server}-{way}{}", walk.name.replace('/', "-")));
            let both = Both { piece, is_acp: arguments.acp, program: &program, folder, runtime: &runtime };
            outcomes.push(match both.walk(&walk.text) {
                Ok(how) => {
                    say!("✓ {server} {}: {} steps, {how}", walk.name, walk.scenario.user.steps.len());
                    Outcome::Holds
                }
                Err(why) => {
                    say!("✗ {server} {}: {why}", walk.name);
                    Outcome::Fails(format!("{server} {}", walk.name))
                }
            });
        }
    }
    Outcome::of_all(outcomes)
}

/// What is to be walked.
fn walks(arguments: &Arguments, server: ServerKind) -> Result<Vec<Walk>, String> {
    if arguments.scenario.is_empty() {
        let seeds = arguments.seed..arguments.seed.saturating_add(arguments.count);
        return seeds
            .map(|seed| Walk::of(seed, arguments.steps, server).map_err(|e| e.to_string()))
            .collect();
    }
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("failed to read {}: {error}", path.display()))?;
        let scenario = Scenario::parse(path, &text).map_err(|error| error.to_string())?;
        if arguments.acp && !scenario.is_for_acp() {
            let path = path.display();
            return Err(format!("{path}: ACP has no words for one of its person's steps; leave --acp away"));
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Walk { name, text, scenario })
    };
    arguments.scenario.iter().map(read).collect()
}

/// A walk by the real server and by the stand-in.
struct Both<'a> {
    piece: Piece,
    /// By the agents, on stdin and stdout.
    is_acp: bool,
    program: &'a Program,
    folder: PathBuf,
    runtime: &'a tokio::runtime::Runtime,
}

impl Both<'_> {
    fn walk(&self, text: &str) -> Result<&'static str, String> {
        let file = self.folder.join("walk.toml");
        std::fs::create_dir_all(&self.folder)
            .and_then(|()| std::fs::write(&file, text))
            .map_err(|error| format!("failed to write {}: {error}", file.display()))?;
        let floats = catalog::floats(self.piece.server).map_err(|error| error.to_string())?;
        let real = self.by_real_server("real.jsonl")?;
        let limits = stand_in_limits();
        let performed = match self.is_acp {
            true => self.runtime.block_on(self.piece.by_acp_stand_in(&limits)),
            false => self.runtime.block_on(self.piece.by_stand_in(&limits)),
        };
        let mut stood_in = performed.map_err(|error| format!("the stand-in: {error}"))?;
        // What its model was asked stands behind all else, with times of its own.
        stood_in.recording.lines.sort_by_key(Line::at_us);
        let stood_in = self.kept(&stood_in.recording, &stood_in.secrets, "stand-in.jsonl")?;
        let found = self.differences(&real, &stood_in, &floats);
        let how = if found.is_empty() { "equal" } else { self.once_more(&real, &stood_in, &found, &floats)? };
        // Nothing to look at.
        std::fs::remove_dir_all(&self.folder).ok();
        Ok(how)
    }

    fn differences(&self, one: &Recording, other: &Recording, floats: &Floats) -> Vec<Difference> {
        if self.is_acp { acp_differences(one, other) } else { differences(one, other, floats) }
    }

    fn by_real_server(&self, name: &str) -> Result<Recording, String> {
        let limits = Limits { idle: IDLE, ..Limits::default() };
        let performed = match self.is_acp {
            true => self.runtime.block_on(self.piece.by_acp_program(self.program, &limits)),
            false => self.runtime.block_on(self.piece.by_program(self.program, &limits)),
        };
        let real = performed.map_err(|error| format!("the real server: {error}"))?;
        self.kept(&real.recording, &real.secrets, name)
    }

    /// Without the secrets: those of the two sides are not the same.
    fn kept(&self, recording: &Recording, secrets: &Secrets, name: &str) -> Result<Recording, String> {
        let path = self.folder.join(name);
        keep(recording, secrets, &path).map_err(|error| error.to_string())?;
        Recording::read(&path).map_err(|error| error.to_string())
    }

    /// What differs from a first run may be equal to a second.
    fn once_more(
        &self,
        first: &Recording,
        stood_in: &Recording,
        found: &[Difference],
        floats: &Floats,
    ) -> Result<&'static str, String> {
        let second = self.by_real_server("real-again.jsonl")?;
        if self.differences(&second, stood_in, floats).is_empty() {
            return Ok("equal to the second of two runs of the real server, which differ");
        }
        let itself = self.differences(first, &second, floats);
        let left: Vec<Difference> = found.iter().filter_map(|one| one.beside(&itself)).collect();
        if left.is_empty() {
            return Ok("equal but where the real server differs from itself");
        }
        let sides = Sides::new("the real server", "the stand-in");
        let shown: Vec<String> =
            left.iter().take(SHOWN).map(|difference| format!("  {}", difference.told(&sides))).collect();
        let left = left.len();
        let folder = self.folder.display();
        Err(format!("{left} differences; see {folder}\n{}", shown.join("\n")))
    }
}
