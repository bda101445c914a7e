//! `standin serve`: stands in for a server until it is told to end.

use super::{Failure, Outcome, runtime, scenario, server};
use clap::{Args, ValueEnum};
use fixtures::error::FileError;
use fixtures::fault_plan::FaultPlan;
use fixtures::recording::Recording;
use fixtures::{ServerKind, catalog};
use mock_server::{ClockKind, Options, StandIn, replay};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// What a stand-in is to be.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The server to stand in for: kilo or opencode [default: kilo; with a file to play, the file's]
    #[arg(long, value_parser = server)]
    profile: Option<ServerKind>,
    /// The scenario to perform, as area/name, or a .toml file.
    #[arg(long, default_value = "permission/write-allowed-once", conflicts_with = "replay")]
    scenario: String,
    /// Play a recording again: a .jsonl file, or the name of a scenario that is recorded for the profile.
    #[arg(long)]
    replay: Option<String>,
    /// The port on 127.0.0.1; 0 takes any free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Only 127.0.0.1 is served; the flag is there because the real servers have it.
    #[arg(long, default_value = "127.0.0.1")]
    hostname: String,
    /// The password; without it the server's own environment variable, and without that the server is open.
    #[arg(long)]
    password: Option<String>,
    /// The agent's folder; without it a fresh one with the scenario's files. A recording has its own.
    #[arg(long, conflicts_with = "replay")]
    workspace: Option<PathBuf>,
    /// A file of faults.
    #[arg(long)]
    faults: Option<PathBuf>,
    /// One more port into the same server, under this name. Repeatable.
    #[arg(long = "lane")]
    lanes: Vec<String>,
    /// Where times come from.
    #[arg(long, value_enum, default_value_t = ClockWord::Real)]
    clock: ClockWord,
    /// Decides every random choice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ClockWord {
    /// The machine's clock.
    Real,
    /// A count that depends on nothing but the requests: two runs are the same, byte for byte.
    Logical,
}

pub(crate) fn run(arguments: Arguments) -> Outcome {
    if !matches!(arguments.hostname.as_str(), "127.0.0.1" | "localhost") {
        let message =
            format!("standin listens on 127.0.0.1 only, not on {}: leave --hostname out", arguments.hostname);
        return Err(Failure::Misuse(message));
    }
    let options = options(arguments)?;
    let word = options.server.word();
    runtime()?.block_on(async {
        let stand_in = StandIn::start(options).await.map_err(|error| Failure::CouldNot(error.to_string()))?;
        println!("{word} server listening on {}", stand_in.url());
        for (lane, url) in stand_in.lanes().into_iter().skip(1) {
            println!("lane {lane} listening on {url}");
        }
        let mut terminate = signal(SignalKind::terminate())
            .map_err(|error| Failure::CouldNot(format!("failed to wait for signals: {error}")))?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        for (number, fault) in stand_in.unfired_faults() {
            eprintln!("fault {number} never fired: it {fault}");
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn options(arguments: Arguments) -> Result<Options, Failure> {
    let profile = arguments.profile.unwrap_or(ServerKind::Kilo);
    let mut options = match &arguments.replay {
        Some(name) if name.ends_with(".jsonl") => {
            Options::replay(recording(&PathBuf::from(name), arguments.profile)?)
        }
        Some(name) => Options::replay(catalog::recording(&profile.release(), name)?),
        None => Options::scenario(profile, scenario(&arguments.scenario)?),
    };
    if let Some(path) = &arguments.faults {
        let text = std::fs::read_to_string(path).map_err(|error| FileError::io(path, "read it", &error))?;
        options.faults = FaultPlan::parse(path, &text)?;
    }
    options.password = arguments.password.or_else(|| password_of(options.server));
    options.port = arguments.port;
    options.lanes = arguments.lanes;
    options.workspace = arguments.workspace;
    options.seed = arguments.seed;
    options.clock = match arguments.clock {
        ClockWord::Real => ClockKind::Real,
        ClockWord::Logical => ClockKind::Logical,
    };
    Ok(options)
}

/// A file that can be played again, of the server that was asked for.
fn recording(path: &Path, wanted: Option<ServerKind>) -> Result<Recording, Failure> {
    let recording = Recording::read(path)?;
    replay::check(&recording).map_err(|why| FileError::whole(path, why.to_string()))?;
    let server = recording.header.server;
    match wanted {
        Some(wanted) if wanted != server => {
            let why = format!("this is a recording of {server}; leave --profile {wanted} out");
            Err(FileError::whole(path, why).into())
        }
        _ => Ok(recording),
    }
}

#[expect(clippy::disallowed_methods, reason = "the real servers take their password from the environment")]
fn password_of(server: ServerKind) -> Option<String> {
    std::env::var(format!("{}_SERVER_PASSWORD", server.env_prefix()))
        .ok()
        .filter(|password| !password.is_empty())
}
