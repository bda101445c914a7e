//! `standin serve`: stands in for a server until it is told to end.

use super::{Failure, Outcome, read_text, runtime, scenario, told_to_end, words};
use clap::{Args, ValueEnum};
use fixtures::FileError;
use fixtures::fault_plan::{FaultPlan, Place};
use fixtures::recording::Recording;
use fixtures::scenario::Scenario;
use fixtures::{ServerKind, catalog};
use harness::{complain, say};
use mock_server::journal::Memory;
use mock_server::replay::Pace;
use mock_server::standin::MAIN_LANE;
use mock_server::{ClockKind, MODEL_PAUSE, Options, Play, StandIn, WELCOME, replay};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// What a stand-in is to be.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The server to stand in for: kilo or opencode [default: kilo; with a file to play, the file's]
    #[arg(long, value_parser = words::server)]
    profile: Option<ServerKind>,
    /// The scenario to perform, as area/name, or a .toml file. Repeatable: several are performed as one.
    ///
    /// Without any there is text/welcome, which does something with any prompt.
    #[arg(long = "scenario", value_name = "SCENARIO", conflicts_with = "replay", value_parser = words::some_text())]
    scenarios: Vec<String>,
    /// Play a recording again: a .jsonl file, or the name of a scenario that is recorded for the profile.
    #[arg(long)]
    replay: Option<String>,
    /// What the events of a recording wait for.
    #[arg(long, value_enum, default_value_t = PaceWord::Causal, requires = "replay")]
    pace: PaceWord,
    /// The address of the model that plays the agent's part in place of the scenario's.
    ///
    /// It is OpenAI-compatible, such as http://127.0.0.1:8000/v1
    #[arg(long, value_name = "URL", conflicts_with = "replay")]
    model: Option<String>,
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
    /// A file of faults.
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// One more port into the same server, under this name. Repeatable.
    #[arg(long = "lane", value_name = "NAME", value_parser = words::lane)]
    lanes: Vec<String>,
    /// Where times come from.
    #[arg(long, value_enum, default_value_t = ClockWord::Real)]
    clock: ClockWord,
    /// With --clock scaled: how many seconds pass in one of the machine's.
    #[arg(long, value_name = "TIMES", default_value_t = 60, value_parser = words::times)]
    time_scale: u32,
    /// Let no gate of the scenario hold the model.
    #[arg(long)]
    open_gates: bool,
    /// Let the agent's shell lines run in the folder of --workspace, as they do in a fresh one.
    #[arg(long, conflicts_with = "replay")]
    allow_shell: bool,
    /// Let the agent go wherever the server lets it, not only to folders that the stand-in has made.
    #[arg(long, conflicts_with = "replay")]
    allow_outside: bool,
    /// So many milliseconds pass before a prompt is begun with, and before each answer of the model.
    ///
    /// Some clients listen only after they have prompted. On a logical clock it takes no
    /// time.
    #[arg(long, value_name = "MS", default_value_t = MODEL_PAUSE.as_millis() as u64, conflicts_with = "replay")]
    model_pause_ms: u64,
    /// Decides every random choice.
    #[arg(long, default_value_t = 1, value_parser = words::seed, allow_negative_numbers = true)]
    seed: u64,
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

A fault that never fired is named at the end.
Exit codes: 0 it was ended, 2 misuse, 3 a port or a folder can't be had.";

/// It serves for days and does not grow.
const JOURNAL_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ClockWord {
    /// The machine's clock.
    Real,
    /// The machine's clock, --time-scale times as fast: heartbeats and further tries come sooner.
    Scaled,
    /// A count that depends on nothing but the requests: two runs are the same, byte for byte.
    Logical,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PaceWord {
    /// For the requests that caused them: nothing comes before the client has asked for it.
    Causal,
    /// For their time, from the first stream on; faster with --clock scaled.
    Recorded,
    /// For nothing: all of them come with the first stream.
    AtOnce,
}

pub(crate) fn run(arguments: Arguments) -> Outcome {
    if arguments.print_logs {
        complain!("standin has no log of its own");
    }
    if !matches!(arguments.hostname.as_str(), "127.0.0.1" | "localhost") {
        let message =
            format!("standin listens on 127.0.0.1 only, not on {}: leave --hostname out", arguments.hostname);
        return Err(Failure::Misuse(message));
    }
    let open_gates = arguments.open_gates;
    let options = options(arguments)?;
    let word = options.server.word();
    runtime()?.block_on(async {
        let stand_in = StandIn::start(options).await.map_err(|error| Failure::CouldNot(error.to_string()))?;
        if open_gates {
            stand_in.open_all_gates();
        }
        let end = told_to_end()?;
        say!("{word} server listening on {}", stand_in.url());
        for (lane, url) in stand_in.lanes().into_iter().skip(1) {
            say!("lane {lane} listening on {url}");
        }
        end.await;
        for (number, fault) in stand_in.unfired_faults() {
            complain!("fault {number} never fired: it {fault}");
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
        None => Options::scenario(profile, joined(&arguments.scenarios)?),
    };
    let lanes = lanes(&arguments.lanes)?;
    if let Some(path) = &arguments.faults {
        let releases = [release(&options)];
        let more_lanes = "`--lane NAME` opens one more";
        let place = Place { lanes: &lanes, more_lanes, releases: &releases };
        options.faults = FaultPlan::parse_for(path, &read_text(path)?, &place)?;
    }
    options.password = arguments.password.or_else(|| password_of(options.server));
    options.model = arguments.model;
    options.port = arguments.port;
    options.lanes = arguments.lanes;
    options.workspace = arguments.workspace;
    options.seed = arguments.seed;
    options.allow_shell = arguments.allow_shell;
    options.memory = Memory::Latest { bytes: JOURNAL_BYTES };
    options.allow_outside = arguments.allow_outside;
    options.model_pause = Duration::from_millis(arguments.model_pause_ms);
    options.pace = match arguments.pace {
        PaceWord::Causal => Pace::Causal,
        PaceWord::Recorded => Pace::Recorded,
        PaceWord::AtOnce => Pace::AtOnce,
    };
    options.clock = match arguments.clock {
        ClockWord::Real => ClockKind::Real,
        ClockWord::Scaled => ClockKind::Scaled { by: arguments.time_scale },
        ClockWord::Logical => ClockKind::Logical,
    };
    Ok(options)
}

/// What is to be performed, as one scenario.
fn joined(names: &[String]) -> Result<Scenario, Failure> {
    match names {
        [] => Ok(scenario(WELCOME)?),
        [name] => Ok(scenario(name)?),
        names => {
            let read = names.iter().map(|name| Ok((name.clone(), scenario(name)?)));
            Scenario::join(read.collect::<Result<_, Failure>>()?)
                .map_err(|why| Failure::Misuse(format!("these scenarios can't be performed as one: {why}")))
        }
    }
}

/// All lanes, the main one first; each has a name of its own.
fn lanes(more: &[String]) -> Result<Vec<&str>, Failure> {
    let mut lanes = vec![MAIN_LANE];
    for lane in more {
        if lanes.contains(&lane.as_str()) {
            let why =
                if lane == MAIN_LANE { "--port has the lane of this name" } else { "it is given twice" };
            return Err(Failure::Misuse(format!("--lane {lane}: {why}; each lane needs a name of its own")));
        }
        lanes.push(lane);
    }
    Ok(lanes)
}

/// The release whose events come.
fn release(options: &Options) -> String {
    match &options.play {
        Play::Scenario(_) => options.server.release(),
        Play::Recording(recording) => format!("{}-{}", recording.header.server, recording.header.version),
    }
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

/// The password that the server would take from the environment.
#[expect(clippy::disallowed_methods, reason = "the real servers take their password from the environment")]
pub(super) fn password_of(server: ServerKind) -> Option<String> {
    std::env::var(format!("{}_SERVER_PASSWORD", server.env_prefix()))
        .ok()
        .filter(|password| !password.is_empty())
}
