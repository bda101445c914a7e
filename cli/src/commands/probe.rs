//! `standin probe agents`: what the agents of a folder are declared to do, beside what a server lets them do.

use super::{COULD_NOT_CHECK, FAILS, Failure, Outcome, runtime, words};
use clap::{Args, Subcommand, ValueEnum};
use fixtures::ServerKind;
use harness::machine::Machine;
use harness::performance::Program;
use harness::probe::folder::AgentFolder;
use harness::probe::{Probe, ProbeError, Subject};
use harness::{complain, say};
use recorder::Limits;
use recorder::launch::LaunchError;
use recorder::real_servers::{self, Release};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What is probed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Agents: what their files declare, beside the tools, rules and effort that a server really gives them.
    Agents(Agents),
}

/// Which agents, and who is asked.
#[derive(Debug, Args)]
#[command(
    after_help = "The real server is started with the folder's texts in a fresh home and workspace, and with the scripted model.
Each agent is told to run a shell line, to write a file, and to give work to others; what it is offered, what
is asked, done and refused is printed where it differs from what the files declare. docs/probe.md.

    standin probe agents --dir .kilo --server kilo
    standin probe agents --dir . --server opencode --format json
    standin probe agents --dir .kilo --server kilo --agent orchestrator --all
    standin probe agents --dir .kilo --server kilo --files

The server sees settings without what may start a program (mcp, plugin, formatter, lsp, …), and none of the folder's code.

Exit codes: 0 all holds, 1 something differs or a file contradicts itself, 2 misuse, 3 no server to ask, one that did
not answer in time, or settings that can't be read: no server is started on them."
)]
struct Agents {
    /// The folder of the agents, such as .kilo or .opencode, or a project that has one.
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// The server: kilo or opencode.
    #[arg(long, value_parser = words::server)]
    server: ServerKind,
    /// Ask the stand-in, which needs no installation, in place of the real server.
    #[arg(long, conflicts_with_all = ["bin", "npm_dir", "files"])]
    stand_in: bool,
    /// Read the files alone, and ask nobody.
    #[arg(long, conflicts_with_all = ["bin", "npm_dir"])]
    files: bool,
    /// This agent alone; may be given again.
    #[arg(long, value_name = "NAME")]
    agent: Vec<String>,
    /// The server's program, or another one that serves as it does.
    #[arg(long, value_name = "PATH", conflicts_with = "npm_dir")]
    bin: Option<PathBuf>,
    /// The folder whose node_modules hold the server, in any release [default: the user's cache]
    ///
    /// Where there is none, npm installs the pinned one.
    #[arg(long, value_name = "DIR")]
    npm_dir: Option<PathBuf>,
    /// With --format text: what holds, too.
    #[arg(long)]
    all: bool,
    /// How it is told.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: what differs.
    Text,
    /// For programs: everything.
    Json,
    /// For a page or a comment: everything.
    Markdown,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let What::Agents(agents) = &arguments.what;
    let folder = AgentFolder::read(&agents.dir, agents.server)?;
    let subject = Subject { folder, server: agents.server, agents: agents.agent.clone() };
    let probe = if agents.files { subject.read() } else { asked(agents, &subject)? };
    let probe = probe.map_err(|error| failure(&error))?;
    print(agents, &probe);
    Ok(ExitCode::from(match (probe.holds(), probe.unseen()) {
        (false, _) => FAILS,
        (true, 0) => 0,
        (true, _) => COULD_NOT_CHECK,
    }))
}

fn asked(agents: &Agents, subject: &Subject) -> Result<Result<Probe, ProbeError>, Failure> {
    let program = if agents.stand_in { None } else { Some(program(agents)?) };
    let limits = Limits { quiet: Duration::from_secs(5), ..Limits::default() };
    Ok(runtime()?.block_on(subject.ask(program.as_ref(), &limits)))
}

fn print(agents: &Agents, probe: &Probe) {
    match agents.format {
        Format::Text => say!("{}", probe.text(agents.all).trim_end()),
        Format::Json => say!("{}", probe.json()),
        Format::Markdown => say!("{}", probe.markdown().trim_end()),
    }
}

fn program(agents: &Agents) -> Result<Program, Failure> {
    let machine = Machine::of_this_process();
    let path = match &agents.bin {
        // A bare name is looked for on the PATH. The program is started in another folder than this one.
        Some(path) if path.components().count() > 1 => std::path::absolute(path)
            .map_err(|error| Failure::Misuse(format!("{} is no path: {error}", path.display())))?,
        Some(path) => path.clone(),
        None => {
            let npm_dir = agents.npm_dir.clone().unwrap_or_else(|| machine.default_npm_dir());
            real_servers::program(agents.server, &npm_dir, Release::Installed, |what| complain!("{what}"))
                .map_err(|error| Failure::CouldNot(error.to_string()))?
        }
    };
    Ok(Program {
        path,
        args: Vec::new(),
        path_env: machine.path_env,
        model_pause: Duration::ZERO,
        server_log: None,
        secrets: machine.secrets,
    })
}

fn failure(error: &ProbeError) -> Failure {
    let said = error.to_string();
    match error {
        ProbeError::UnknownAgent(_)
        | ProbeError::NoAgents(_)
        | ProbeError::Launch(LaunchError::NotFound { .. } | LaunchError::NotExecutable { .. }) => {
            Failure::Misuse(said)
        }
        _ => Failure::CouldNot(said),
    }
}
