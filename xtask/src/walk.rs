//! `cargo xtask walk`: random walks, performed by the real servers and by the stand-in, and compared.

use crate::outcome::Outcome;
use clap::Args;
use fixtures::compare::Sides;
use fixtures::recording::Line;
use fixtures::{ServerKind, catalog};
use harness::machine::Machine;
use harness::performance::{Piece, Program};
use harness::truth::{differences, stand_in_limits};
use harness::walk::Walk;
use harness::{complain, say};
use recorder::Limits;
use recorder::keep::keep;
use recorder::real_servers::{self, Release};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where walks are written that the stand-in does not walk as the real server does.
const KEPT: &str = "target/walk";
/// So many differences tell where to look; the others mostly follow from them.
const SHOWN: usize = 6;

/// Walk at random.
#[derive(Debug, Args)]
#[command(
    after_help = "A person with a seed prompts, forks, reverts, renames, deletes and is wrong, with a real server and
with the stand-in; what differs is a mistake of the stand-in. The walk and both time lines are left in target/walk:

    cargo xtask walk --seed 1 --count 20
    cargo xtask walk --seed 7 --server kilo --steps 15

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
        let path = match real_servers::program(server, &npm_dir, Release::Pinned, |what| complain!("{what}"))
        {
            Ok(path) => path,
            Err(error) => {
                outcomes.push(Outcome::Untestable(error.to_string()));
                continue;
            }
        };
        let program = Program {
            path,
            args: Vec::new(),
            path_env: machine.path_env.clone(),
            model_pause: Duration::ZERO,
            server_log: None,
            secrets: machine.secrets.clone(),
        };
        for seed in arguments.seed..arguments.seed.saturating_add(arguments.count) {
            outcomes.push(match walk(seed, arguments.steps, server, &program, root, &runtime) {
                Ok(steps) => {
                    say!("✓ {server} walk {seed}: {steps} steps, equal");
                    Outcome::Holds
                }
                Err(why) => {
                    say!("✗ {server} walk {seed}: {why}");
                    Outcome::Fails(format!("{server} walk {seed}"))
                }
            });
        }
    }
    Outcome::of_all(outcomes)
}

fn walk(
    seed: u64,
    steps: usize,
    server: ServerKind,
    program: &Program,
    root: &Path,
    runtime: &tokio::runtime::Runtime,
) -> Result<usize, String> {
    let walk = Walk::of(seed, steps).map_err(|error| error.to_string())?;
    let taken = walk.scenario.user.steps.len();
    let piece = Piece { name: walk.name.clone(), scenario: walk.scenario, server };
    let folder = root.join(KEPT).join(format!("{server}-{seed}"));
    let file = folder.join("walk.toml");
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&file, &walk.text))
        .map_err(|error| format!("failed to write {}: {error}", file.display()))?;
    let real = runtime
        .block_on(piece.by_program(program, &Limits::default()))
        .map_err(|error| format!("the real server: {error}"))?;
    let stood_in = runtime
        .block_on(piece.by_stand_in(&stand_in_limits()))
        .map_err(|error| format!("the stand-in: {error}"));
    keep(&real.recording, &real.secrets, &folder.join("real.jsonl")).map_err(|error| error.to_string())?;
    let mut stood_in = stood_in?;
    let floats = catalog::floats(server).map_err(|error| error.to_string())?;
    let found = differences(&real.recording, &stood_in.recording, &floats);
    // What its model was asked stands behind all else, with times of its own.
    stood_in.recording.lines.sort_by_key(Line::at_us);
    keep(&stood_in.recording, &stood_in.secrets, &folder.join("stand-in.jsonl"))
        .map_err(|error| error.to_string())?;
    if found.is_empty() {
        // Nothing to look at.
        std::fs::remove_dir_all(&folder).ok();
        return Ok(taken);
    }
    let sides = Sides::new("the real server", "the stand-in");
    let shown: Vec<String> =
        found.iter().take(SHOWN).map(|difference| format!("  {}", difference.told(&sides))).collect();
    Err(format!("{} differences; see {}\n{}", found.len(), folder.display(), shown.join("\n")))
}
