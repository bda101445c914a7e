//! `standin as`: is `kilo` or `opencode` to whoever starts the server as a program: its flags, its environment, its ready
//! line, its signals and exit codes. A link to `standin` under one of these names is the same.

mod flags;
mod kiro;

use super::acp::{self, Speech};
use super::service::{self, Manner, Service};
use super::stage::Stage;
use super::{Failure, Outcome, surroundings};
use clap::{Args, Parser};
use fixtures::ServerKind;
use fixtures::error::io_words;
use fixtures::near_names::unknown;
use flags::{Flags, Wish};
use harness::{complain, say};
use mock_server::Play;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Which command it is to be.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    stage: Stage,
    #[command(flatten)]
    speech: Speech,
    /// The command: kilo, opencode or kiro-cli.
    #[arg(value_parser = Command::parse)]
    command: Command,
    /// Its own arguments: `serve` and its flags, or `acp`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

const AFTER_HELP: &str = "A client that starts its server itself gets the stand-in:

    standin as kilo serve --port 0
    ln -s \"$(command -v standin)\" bin/opencode
    STANDIN_SCENARIO=text/plain PATH=\"$PWD/bin:$PATH\" your-client

Under the name kilo or opencode every flag has an environment variable: --open-gates is STANDIN_OPEN_GATES.
The folder it is started in is the agent's. Settings come from its files and from KILO_CONFIG,
KILO_CONFIG_DIR, KILO_CONFIG_CONTENT and KILO_PERMISSION (OPENCODE_…); the person's own settings, keys and
sessions are neither read nor written. With STANDIN_HOME=DIR what one start keeps is there in the next.

An agent on stdin and stdout is there, too; kiro-cli is nothing else, and has one in text:

    standin as opencode acp
    standin as kiro-cli acp
    standin as kiro-cli chat --trust-all-tools

A start goes wrong if the file of --faults says so:

    [[start]]
    do = { crash_after_ms = 300 }

Exit codes: 0 it was ended, 1 a flag that it does not know, 2 a command that is not played; OpenCode dies of
the signal that ends it.";

/// A command that can be stood in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// A server's, which is an agent too.
    Of(ServerKind),
    /// Kiro's, which is an agent alone.
    Kiro,
}

impl Command {
    fn word(self) -> &'static str {
        match self {
            Self::Of(server) => server.word(),
            Self::Kiro => "kiro-cli",
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        ServerKind::ALL.into_iter().map(Self::Of).chain([Self::Kiro])
    }

    fn parse(word: &str) -> Result<Self, String> {
        let known: Vec<&str> = Self::all().map(Self::word).collect();
        Self::all().find(|command| command.word() == word).ok_or_else(|| unknown("command", word, &known))
    }
}

/// What a link has for its flags: nothing but the environment.
#[derive(Debug, Parser)]
#[command(name = "standin")]
struct Surroundings {
    #[command(flatten)]
    stage: Stage,
    #[command(flatten)]
    speech: Speech,
}

pub(crate) fn run(arguments: Arguments) -> Outcome {
    let Arguments { stage, speech, command, arguments } = arguments;
    stand_for(command, stage, speech, &arguments)
}

/// The command whose name this program was started under.
pub(crate) fn named(program: &Path) -> Option<Command> {
    Command::all().find(|command| program.file_name().is_some_and(|name| name == command.word()))
}

/// This program was started under the name of a command.
pub(crate) fn run_as(command: Command, arguments: &[OsString]) -> Outcome {
    let surroundings = Surroundings::try_parse_from(["standin"]);
    let Surroundings { stage, speech } = surroundings.map_err(|error| Failure::Misuse(error.to_string()))?;
    stand_for(command, stage, speech, arguments)
}

fn stand_for(command: Command, stage: Stage, speech: Speech, arguments: &[OsString]) -> Outcome {
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let is_agent = words.first().is_some_and(|word| word == "acp");
    let command = match command {
        Command::Kiro => return kiro::stand_for(stage, speech, &words),
        Command::Of(server) if is_agent => return agent(server, stage, &speech, &words[1..]),
        Command::Of(server) => server,
    };
    match flags::read(&words) {
        Wish::Serve(flags) => serve(command, stage, flags),
        Wish::Version => {
            say!("{}", command.pinned_version());
            Ok(ExitCode::SUCCESS)
        }
        Wish::Help => {
            complain!("{}", flags::help(command));
            Ok(ExitCode::SUCCESS)
        }
        Wish::Wrong(why) => {
            complain!("{}\n\nstandin: {why}", flags::help(command));
            Ok(ExitCode::FAILURE)
        }
        Wish::Other(what) => Err(Failure::Misuse(format!(
            "'{command} {what}' is not played, only '{command} serve'; for all else start the real {command}"
        ))),
    }
}

/// `kilo acp`, `opencode acp`: the folder is the one that it is started in, or `--cwd`; where the server behind it listens
/// is nobody's business.
fn agent(server: ServerKind, stage: Stage, speech: &Speech, words: &[String]) -> Outcome {
    if words.iter().any(|word| matches!(word.as_str(), "-h" | "--help")) {
        complain!(
            "{server} acp\n\nstart ACP (Agent Client Protocol) server, played by standin: see `standin help acp`."
        );
        return Ok(ExitCode::SUCCESS);
    }
    let at = words.iter().position(|word| word == "--cwd").and_then(|at| words.get(at + 1));
    let folder = match at {
        Some(folder) => PathBuf::from(folder),
        None => here()?,
    };
    acp::speak(server, speech, stage, Some(folder), surroundings::settings(server)?)
}

fn serve(command: ServerKind, stage: Stage, flags: Flags) -> Outcome {
    let mut set = stage.set(Some(command))?.for_a_server()?;
    let host = host(&flags)?;
    surroundings::surround(&mut set)?;
    if matches!(set.options.play, Play::Scenario(_)) {
        set.options.workspace = Some(here()?);
    }
    set.options.origins = flags.cors;
    let prefix = command.env_prefix();
    let is_open = set.options.password.is_none();
    let warning = format!("Warning: {prefix}_SERVER_PASSWORD is not set; server is unsecured.");
    let reaches_all = host == ANY && command == ServerKind::Kilo;
    service::run(Service {
        set,
        ports: flags.port.to_try(),
        before: is_open.then_some(warning),
        behind: Vec::from_iter(reaches_all.then(|| "  Local:   http://localhost:PORT".to_owned())),
        host,
        manner: Manner::Of(command),
    })
}

const ANY: &str = "0.0.0.0";

/// The host as the ready line has it. Whatever it is, the stand-in is reached from this machine alone.
fn host(flags: &Flags) -> Result<String, Failure> {
    match flags.hostname.as_str() {
        "" => Ok("localhost".to_owned()),
        known @ ("127.0.0.1" | "localhost") => Ok(known.to_owned()),
        ANY => {
            complain!("standin listens on 127.0.0.1 only, not on every address of this machine");
            Ok(ANY.to_owned())
        }
        other => Err(Failure::Fails(format!(
            "standin listens on 127.0.0.1 only, not on {other}: start it with --hostname 127.0.0.1"
        ))),
    }
}

/// The folder that it is started in.
fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::CouldNot(format!("failed to find the folder: {}", io_words(&error))))
}
