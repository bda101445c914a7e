//! `standin serve`: stands in for a server until it is told to end.

use super::service::{self, Manner, Service};
use super::stage::Stage;
use super::{Failure, Outcome, surroundings, words};
use clap::Args;
use fixtures::ServerKind;
use harness::complain;
use std::path::PathBuf;

/// What a stand-in is to be.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The server to stand in for: kilo or opencode [default: kilo; with a file to play, the file's]
    #[arg(long, value_parser = words::server)]
    profile: Option<ServerKind>,
    #[command(flatten)]
    stage: Stage,
    /// The port on 127.0.0.1; 0 takes any free one.
    #[arg(long, default_value_t = 0, value_parser = words::port, allow_negative_numbers = true)]
    port: u16,
    /// Only 127.0.0.1 is served; the flag is there because the real servers have it.
    #[arg(long, default_value = "127.0.0.1")]
    hostname: String,
    /// The flag is there because the real servers have it: the stand-in has no log.
    #[arg(long, hide = true)]
    print_logs: bool,
    /// The password; without it the server's own environment variable, and without that the server is open.
    #[arg(long, value_parser = words::some_text())]
    password: Option<String>,
    /// The agent's folder; without it a fresh one with the scenario's files. A recording has its own.
    #[arg(long, value_name = "DIR", conflicts_with = "replay", value_parser = words::folder())]
    workspace: Option<PathBuf>,
}

const AFTER_HELP: &str =
    "It prints the real server's ready line with the address, and serves until it is ended by \
Ctrl-C or SIGTERM:

    standin serve
    standin serve --profile opencode --scenario text/plain --scenario todo/written --port 4096
    standin serve --lane phone --faults cut.toml

where cut.toml breaks the stream of the second client, once:

    [[fault]]
    when = { lane = \"phone\", stream = \"event\", after_event = \"message.part.delta\", nth = 2 }
    do = { cut = \"mid-frame\", bytes = 17 }

Settings come from the workspace and from the server's own variables: KILO_CONFIG_CONTENT,
KILO_PERMISSION and others (OPENCODE_…).
A fault that never fired is named at the end.
Exit codes: 0 it was ended, 2 misuse, 3 a port or a folder can't be had.";

pub(crate) fn run(arguments: Arguments) -> Outcome {
    if arguments.print_logs {
        complain!("standin has no log of its own");
    }
    if !matches!(arguments.hostname.as_str(), "127.0.0.1" | "localhost") {
        let message =
            format!("standin listens on 127.0.0.1 only, not on {}: leave --hostname out", arguments.hostname);
        return Err(Failure::Misuse(message));
    }
    let mut set = arguments.stage.set(arguments.profile)?.for_a_server()?;
    surroundings::surround(&mut set)?;
    set.options.password = arguments.password.or(set.options.password);
    set.options.workspace = arguments.workspace;
    service::run(Service {
        set,
        ports: vec![arguments.port],
        before: None,
        host: "127.0.0.1".to_owned(),
        behind: Vec::new(),
        manner: Manner::Own,
    })
}
