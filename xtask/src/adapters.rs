//! `cargo xtask adapters`: the clients in `adapters/`, the servers' own commands, and those whom kits judge (`kit_clients`),
//! through all cases. What came of them is kept beside them, and must come again: they show what the checks find in clients
//! as most people write them.

use crate::control_clients;
use crate::kit_clients;
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

/// The SDKs that the adapters in TypeScript are written on.
const SDK: (&str, &str) = ("@opencode-ai/sdk", "1.18.33");
const ACP_SDK: (&str, &str) = ("@agentclientprotocol/sdk", "2.4.0");
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
    /// `adapters/acp-python/naive.py`, a client of agents on the official SDK: needs python3 and pip.
    AcpPython,
    /// `adapters/acp-typescript/naive.ts`, a client of agents on the official SDK: needs node and npm.
    AcpTypescript,
    /// `acpx exec`, a client of agents as a command: needs node and npm.
    Acpx,
    /// `adapters/guard/guard.py`, a careful guard: needs python3.
    Guard,
    /// `adapters/pipeline-runner/runner.py`, a careful runner: needs python3.
    PipelineRunner,
}

/// What came of a client.
pub(crate) struct Judged {
    /// In a line.
    pub(crate) summary: String,
    /// By case, server, verdict, and what fails: without anything that is another in each run.
    pub(crate) rows: Vec<Vec<String>>,
    /// What the columns are called.
    pub(crate) columns: &'static [&'static str],
    /// How many cases could not be run, and why the first could not.
    pub(crate) unseen: Option<(usize, String)>,
}

/// Runs them.
pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let machine = Machine::of_this_process();
    let npm_dir = arguments.npm_dir.clone().unwrap_or_else(|| machine.default_npm_dir());
    let clients = if arguments.client.is_empty() { Client::value_variants() } else { &arguments.client };
    let outcomes = clients.iter().map(|client| {
        let judged = match client {
            Client::Python => adapter("naive.py", "python3", &root.join("adapters/python/naive.py")),
            Client::Typescript => compiled(root, &npm_dir, "typescript", SDK)
                .and_then(|program| adapter("naive.ts", "node", &program)),
            Client::KiloRun => command(ServerKind::Kilo, &npm_dir, &machine),
            Client::OpencodeRun => command(ServerKind::Opencode, &npm_dir, &machine),
            Client::AcpPython => kit_clients::python(root, &npm_dir),
            Client::AcpTypescript => {
                compiled(root, &npm_dir, "acp-typescript", ACP_SDK).and_then(|program| {
                    kit_clients::judged(root, "acp", "naive.ts", "node", &[&program.display().to_string()])
                })
            }
            Client::Acpx => kit_clients::acpx(root, &npm_dir),
            Client::Guard => kit_clients::guard(root),
            Client::PipelineRunner => kit_clients::runner(root),
        };
        match judged {
            Ok(judged) => kept(*client, &judged, arguments.update, root),
            Err(outcome) => outcome,
        }
    });
    Outcome::of_all(outcomes.collect::<Vec<_>>())
}

pub(crate) fn untestable(why: impl Into<String>) -> Outcome {
    Outcome::Untestable(why.into())
}

/// An adapter through the matrix.
fn adapter(name: &str, interpreter: &str, file: &Path) -> Result<Judged, Outcome> {
    let subject = Subject::Program { program: interpreter.into(), args: vec![file.display().to_string()] };
    let cases = harness::matrix::embedded().map_err(|error| untestable(error.to_string()))?.cases;
    let bar = bar(&cases);
    let limits = Limits::default();
    let runtime = runtime()?;
    let cells = runtime.block_on(gate::run_cases(&cases, &subject, &limits, |_, _| bar.inc(1)));
    bar.finish_and_clear();
    Ok(of_report(&CheckReport::of(name.to_owned(), &cells, &Baseline::default())))
}

/// A server's own command through the cases for commands, with that server and a home of its own.
fn command(server: ServerKind, npm_dir: &Path, machine: &Machine) -> Result<Judged, Outcome> {
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
    Ok(of_report(&CheckReport::of(format!("{server} run --attach"), &cells, &Baseline::default())))
}

/// Nothing of the person's own settings.
const HOME: &str = "HOME={folder} XDG_CONFIG_HOME={folder}/config XDG_DATA_HOME={folder}/data \
     XDG_STATE_HOME={folder}/state XDG_CACHE_HOME={folder}/cache KILO_DISABLE_MODELS_FETCH=1 \
     OPENCODE_DISABLE_MODELS_FETCH=1 KILO_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_AUTOUPDATE=1 \
     KILO_TELEMETRY_LEVEL=off NO_COLOR=1";
const RUN: &str = "run --attach {url} -u {user} -p {password} --dir {workspace} {prompt}";

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Outcome> {
    tokio::runtime::Runtime::new().map_err(|error| untestable(format!("failed to start a runtime: {error}")))
}

fn bar(cases: &[NamedCase]) -> ProgressBar {
    let count: usize = cases.iter().map(|named| named.case.servers.len()).sum();
    ProgressBar::new(u64::try_from(count).unwrap_or(0))
}

/// An adapter in TypeScript as a program, with its SDK beside it.
fn compiled(root: &Path, npm_dir: &Path, name: &str, sdk: (&str, &str)) -> Result<PathBuf, Outcome> {
    let clients = npm_dir.join("clients");
    let found = real_servers::library(sdk.0, sdk.1, &clients, |what| complain!("{what}"));
    found.map_err(|error| untestable(error.to_string()))?;
    let out = root.join("target/adapters").join(name);
    let modules = out.join("node_modules");
    let installed = std::path::absolute(clients.join("node_modules"));
    let made = installed.and_then(|installed| {
        std::fs::create_dir_all(&out)?;
        std::fs::write(out.join("package.json"), "{\"type\": \"module\"}\n")?;
        std::fs::copy(root.join("adapters").join(name).join("naive.ts"), out.join("naive.ts"))?;
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
fn kept(client: Client, judged: &Judged, update: bool, root: &Path) -> Outcome {
    let name = client.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    if let Some((unseen, first)) = &judged.unseen {
        return untestable(format!("{name}: {unseen} cases could not be run; the first: {first}"));
    }
    say!("{name}: {}", judged.summary);
    let shown = format!("adapters/{name}/verdicts.md");
    let file = root.join(&shown);
    let text = page(judged);
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

/// The verdicts as a page.
fn page(judged: &Judged) -> String {
    let line = |words: &[String]| format!("| {} |\n", words.join(" | "));
    let columns: Vec<String> = judged.columns.iter().map(|name| (*name).to_owned()).collect();
    let mut text = format!("<!-- Written by `cargo xtask adapters --update`. -->\n\n{}.\n\n", judged.summary);
    text += &line(&columns);
    let _ = writeln!(text, "|{}", "---|".repeat(columns.len()));
    judged.rows.iter().for_each(|row| text += &line(row));
    text
}

fn of_report(report: &CheckReport) -> Judged {
    let unseen: Vec<&Row> =
        report.rows.iter().filter(|row| row.verdict.counts_as() == Verdict::HarnessError).collect();
    let row =
        |row: &Row| vec![row.case.clone(), row.server.to_string(), row.verdict.to_string(), what_fails(row)];
    Judged {
        summary: report.summary(),
        rows: report.rows.iter().map(row).collect(),
        columns: &["case", "server", "verdict", "what fails"],
        unseen: unseen
            .first()
            .map(|first| (unseen.len(), first.troubles.first().cloned().unwrap_or_default())),
    }
}

fn what_fails(row: &Row) -> String {
    let failing = row.checks.iter().filter(|judged| judged.verdict == Verdict::Fail);
    match row.verdict {
        RowVerdict::Judged(verdict) => in_words(verdict, failing.map(|judged| judged.check), &row.troubles),
        _ => row.troubles.first().cloned().unwrap_or_default().replace('|', "\\|"),
    }
}

/// What fails in a case, in a cell of a table.
pub(crate) fn in_words<'a>(
    verdict: Verdict,
    failing: impl Iterator<Item = &'a str>,
    troubles: &[String],
) -> String {
    match verdict {
        Verdict::Fail => {
            let checks: Vec<&str> = failing.collect();
            if checks.is_empty() { "a step was not possible".to_owned() } else { checks.join(", ") }
        }
        Verdict::Pass => String::new(),
        _ => troubles.first().cloned().unwrap_or_default().replace('|', "\\|"),
    }
}
