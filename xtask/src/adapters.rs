//! `cargo xtask adapters`: the clients in `adapters/` and the servers' own commands, through all cases. What came of them
//! is kept beside them, and must come again: they show what the checks find in clients as most people write them.

use crate::control_clients;
use crate::outcome::Outcome;
use crate::pinned;
use clap::{Args, ValueEnum};
use fixtures::ServerKind;
use harness::baseline::Baseline;
use harness::blackbox::{self, Command};
use harness::clock::Limits;
use harness::gate;
use harness::judge::Verdict;
use harness::machine::Machine;
use harness::report::check::{CheckReport, Row, RowVerdict};
use harness::subject::Subject;
use harness::{complain, say};
use indicatif::ProgressBar;
use parity_specs::NamedCase;
use recorder::real_servers;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The SDK that the adapter in TypeScript is written on.
const SDK: (&str, &str) = ("@opencode-ai/sdk", "1.18.33");
/// How long a command of a real server may take; they need seconds to begin.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// Which clients.
#[derive(Debug, Args)]
#[command(
    after_help = "Each client is run through every case in front of the stand-in, and the verdicts are held against
those beside it, adapters/<client>/verdicts.md. That a client fails is no failure of this command:

    cargo xtask adapters
    cargo xtask adapters --client python --update

Exit codes: 0 the same verdicts; 1 others, and with --update they are written; 2 misuse; 3 a client can't be had."
)]
pub(crate) struct Arguments {
    /// Only this client. Repeatable.
    #[arg(long, value_enum, value_name = "NAME")]
    client: Vec<Client>,
    /// Write down what came.
    #[arg(long)]
    update: bool,
    /// The folder whose node_modules hold the servers; made and filled when absent [default: the user's cache].
    #[arg(long, value_name = "DIR")]
    npm_dir: Option<PathBuf>,
}

impl Arguments {
    /// These clients, held against what is kept.
    pub(crate) fn of(clients: &[Client]) -> Self {
        Self { client: clients.to_vec(), update: false, npm_dir: None }
    }
}

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// `adapters/python/naive.py`: needs python3.
    Python,
    /// `adapters/typescript/naive.ts` on the official SDK: needs node and npm.
    Typescript,
    /// `kilo run --attach`: needs npm.
    KiloRun,
    /// `opencode run --attach`: needs npm.
    OpencodeRun,
}

/// Runs them.
pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let machine = Machine::of_this_process();
    let npm_dir = arguments.npm_dir.clone().unwrap_or_else(|| machine.default_npm_dir());
    let clients = if arguments.client.is_empty() { Client::value_variants() } else { &arguments.client };
    let outcomes = clients.iter().map(|client| {
        let judged = match client {
            Client::Python => adapter("naive.py", "python3", &root.join("adapters/python/naive.py")),
            Client::Typescript => {
                compiled(root, &npm_dir).and_then(|program| adapter("naive.ts", "node", &program))
            }
            Client::KiloRun => command(ServerKind::Kilo, &npm_dir, &machine),
            Client::OpencodeRun => command(ServerKind::Opencode, &npm_dir, &machine),
        };
        match judged {
            Ok(report) => kept(*client, &report, arguments.update, root),
            Err(outcome) => outcome,
        }
    });
    Outcome::of_all(outcomes.collect::<Vec<_>>())
}

fn untestable(why: impl Into<String>) -> Outcome {
    Outcome::Untestable(why.into())
}

/// An adapter through the matrix.
fn adapter(name: &str, interpreter: &str, file: &Path) -> Result<CheckReport, Outcome> {
    let subject = Subject::Program { program: interpreter.into(), args: vec![file.display().to_string()] };
    let cases = harness::matrix::embedded().map_err(|error| untestable(error.to_string()))?.cases;
    let bar = bar(&cases);
    let limits = Limits::default();
    let runtime = runtime()?;
    let cells = runtime.block_on(gate::run_cases(&cases, &subject, &limits, |_, _| bar.inc(1)));
    bar.finish_and_clear();
    let report = CheckReport::of(name.to_owned(), &cells, &Baseline::default());
    Ok(report)
}

/// A server's own command through the cases for commands, with that server and a home of its own.
fn command(server: ServerKind, npm_dir: &Path, machine: &Machine) -> Result<CheckReport, Outcome> {
    let program = pinned::program(server, npm_dir, machine).map_err(untestable)?;
    let template = format!("env {HOME} {} {RUN}", program.path.display());
    let command = Command::parse(&template, COMMAND_LIMIT).map_err(untestable)?;
    let mut cases = parity_specs::commands::cases().map_err(|error| untestable(error.to_string()))?;
    cases.iter_mut().for_each(|named| named.case.servers.retain(|of| *of == server));
    let bar = bar(&cases);
    let limits = Limits::default();
    let runtime = runtime()?;
    let cells = runtime.block_on(blackbox::run_cases(&cases, &command, &limits, |_, _| bar.inc(1)));
    bar.finish_and_clear();
    Ok(CheckReport::of(format!("{server} run --attach"), &cells, &Baseline::default()))
}

/// Nothing of the person's own settings.
const HOME: &str = "HOME={folder} XDG_CONFIG_HOME={folder}/config XDG_DATA_HOME={folder}/data \
     XDG_STATE_HOME={folder}/state XDG_CACHE_HOME={folder}/cache KILO_DISABLE_MODELS_FETCH=1 \
     OPENCODE_DISABLE_MODELS_FETCH=1 KILO_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_AUTOUPDATE=1 \
     KILO_TELEMETRY_LEVEL=off NO_COLOR=1";
const RUN: &str = "run --attach {url} -u {user} -p {password} --dir {workspace} {prompt}";

fn runtime() -> Result<tokio::runtime::Runtime, Outcome> {
    tokio::runtime::Runtime::new().map_err(|error| untestable(format!("failed to start a runtime: {error}")))
}

fn bar(cases: &[NamedCase]) -> ProgressBar {
    let count: usize = cases.iter().map(|named| named.case.servers.len()).sum();
    ProgressBar::new(u64::try_from(count).unwrap_or(0))
}

/// The adapter in TypeScript as a program, with the SDK beside it.
fn compiled(root: &Path, npm_dir: &Path) -> Result<PathBuf, Outcome> {
    let clients = npm_dir.join("clients");
    let found = real_servers::library(SDK.0, SDK.1, &clients, |what| complain!("{what}"));
    found.map_err(|error| untestable(error.to_string()))?;
    let out = root.join("target/adapters/typescript");
    let modules = out.join("node_modules");
    let installed = std::path::absolute(clients.join("node_modules"));
    let made = installed.and_then(|installed| {
        std::fs::create_dir_all(&out)?;
        std::fs::write(out.join("package.json"), "{\"type\": \"module\"}\n")?;
        std::fs::copy(root.join("adapters/typescript/naive.ts"), out.join("naive.ts"))?;
        std::fs::remove_file(&modules).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        std::os::unix::fs::symlink(installed, &modules)
    });
    made.map_err(|error| untestable(format!("failed to make {}: {error}", out.display())))?;
    let compiled = control_clients::compile(&out, &["naive.ts"], &[]);
    if compiled == Outcome::Holds { Ok(out.join("naive.js")) } else { Err(compiled) }
}

/// Held against what is kept, or written down.
fn kept(client: Client, report: &CheckReport, update: bool, root: &Path) -> Outcome {
    let name = client.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let unseen = report.rows.iter().filter(|row| row.verdict.counts_as() == Verdict::HarnessError).count();
    if unseen > 0 {
        return untestable(format!(
            "{name}: {unseen} cases could not be run; the first: {}",
            first_trouble(report)
        ));
    }
    say!("{name}: {}", report.summary());
    let shown = format!("adapters/{name}/verdicts.md");
    let file = root.join(&shown);
    let text = page(report);
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    if before == text {
        return Outcome::Holds;
    }
    for line in text.lines().filter(|line| !before.contains(line)) {
        say!("  now:    {line}");
    }
    for line in before.lines().filter(|line| !text.contains(line)) {
        say!("  before: {line}");
    }
    if !update {
        return Outcome::Fails(format!("{name}: other verdicts than in {shown}; --update writes them"));
    }
    let written =
        std::fs::create_dir_all(root.join("adapters").join(&name)).and_then(|()| std::fs::write(&file, text));
    match written {
        Ok(()) => Outcome::Fails(format!("{name}: {shown} was written: read it")),
        Err(error) => untestable(format!("failed to write {shown}: {error}")),
    }
}

fn first_trouble(report: &CheckReport) -> String {
    let row = report.rows.iter().find(|row| row.verdict.counts_as() == Verdict::HarnessError);
    row.and_then(|row| row.troubles.first().cloned()).unwrap_or_default()
}

/// The verdicts as a page: what is the same in each run, and no ids.
fn page(report: &CheckReport) -> String {
    let mut text = format!(
        "<!-- Written by `cargo xtask adapters --update`. -->\n\n{}.\n\n| case | server | verdict | what fails |\n|---|---|---|---|\n",
        report.summary()
    );
    for row in &report.rows {
        let _ = writeln!(text, "| {} | {} | {} | {} |", row.case, row.server, row.verdict, what_fails(row));
    }
    text
}

fn what_fails(row: &Row) -> String {
    match row.verdict {
        RowVerdict::Judged(Verdict::Fail) => {
            let failing = row.checks.iter().filter(|judged| judged.verdict == Verdict::Fail);
            let checks: Vec<&str> = failing.map(|judged| judged.check).collect();
            if checks.is_empty() { "a step was not possible".to_owned() } else { checks.join(", ") }
        }
        RowVerdict::Judged(Verdict::Pass) => String::new(),
        _ => row.troubles.first().cloned().unwrap_or_default().replace('|', "\\|"),
    }
}
