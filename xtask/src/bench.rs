//! `cargo xtask bench`: measures what something costs, beside what it may cost.

mod contender;
mod idle;
mod leave;
mod start;
mod subscribers;

use crate::outcome::Outcome;
use clap::{Args, ValueEnum};
use contender::Built;
use harness::machine::Machine;
use harness::say;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tokio::runtime::Runtime;

/// What is measured, and how it is told.
#[derive(Debug, Args)]
#[command(
    after_help = "Measured are the latency of an exchange and of a frame of a stream, and the throughput of long bodies and of frames:
with nobody between client and server, with a bare TCP copy, and with the proxy of `standin record --proxy`, in turns.
The proxy may add 1.5 times what the copy adds, and must let 0.7 of the copy's throughput through:

    cargo xtask bench proxy
    cargo xtask bench proxy --format json

And how many frames of a long answer reach 1, 100 and 1,000 subscribers in a second: of the stand-in, and of bare hyper
that sends the same frames: as they come, one write each; and when all of them are pending before anybody reads, joined.
The stand-in is to reach 0.8 of both:

    cargo xtask bench streams

And what the stand-in costs as a program of its own, beside a server of bare hyper: how long it takes until its ready line,
held against the real servers in the folder that --npm-dir names; how much memory it holds with nobody there and for each
who listens; and what is left when ten thousand clients came and left in the middle of something:

    cargo xtask bench start --npm-dir DIR
    cargo xtask bench idle
    cargo xtask bench leave

Whatever else the machine does is measured with it. Exit codes: 0 it holds; 1 a figure is missed; 2 misuse; 3 nothing
could be measured."
)]
pub(crate) struct Arguments {
    /// What is measured.
    #[arg(value_enum)]
    what: What,
    /// How the figures are told.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// With start: the folder whose node_modules hold the real servers; they are installed when they are not there.
    #[arg(long, value_name = "DIR")]
    npm_dir: Option<PathBuf>,
}

/// What was measured, in words and for programs.
struct Told {
    table: String,
    json: Value,
    holds: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// What stands between a client and a server that is recorded.
    Proxy,
    /// Frames on their way to many subscribers.
    Streams,
    /// The way to the ready line.
    Start,
    /// The memory of a stand-in that does nothing.
    Idle,
    /// What is left of clients that leave.
    Leave,
}

impl What {
    /// The package and its example that measures it, if it is measured within one program.
    fn example(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Proxy => Some(("recorder", "bench_proxy")),
            Self::Streams => Some(("mock-server", "bench_streams")),
            Self::Start | Self::Idle | Self::Leave => None,
        }
    }

    /// What is wrong when a figure is missed.
    fn missed(self) -> &'static str {
        match self {
            Self::Proxy => "the proxy costs more than it may: the figures say where",
            Self::Streams => "frames are slower than they may be: the figures say where",
            Self::Start => "the stand-in begins later than it may: the figures say by how much",
            Self::Idle => "the stand-in holds more memory than it may: the figures say where",
            Self::Leave => "something is left of clients that have left: the figures say what",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// As a table.
    Text,
    /// For programs.
    Json,
}

/// Builds it as users have it, and measures.
pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let Some((package, example)) = arguments.what.example() else {
        return match by_programs(arguments, root) {
            Ok(true) => Outcome::Holds,
            Ok(false) => Outcome::Fails(arguments.what.missed().to_owned()),
            Err(why) => Outcome::Untestable(why),
        };
    };
    let word = if arguments.format == Format::Json { "json" } else { "text" };
    let line = ["run", "--quiet", "--release", "--locked", "--package", package, "--example", example, "--"];
    let status = Command::new("cargo").args(line).arg(word).current_dir(root).stdin(Stdio::null()).status();
    match status.map(|status| status.code()) {
        Ok(Some(0)) => Outcome::Holds,
        Ok(Some(1)) => Outcome::Fails(arguments.what.missed().to_owned()),
        Ok(_) => Outcome::Untestable("nothing could be measured; why stands above".to_owned()),
        Err(error) => Outcome::Untestable(format!("cargo could not be started: {error}")),
    }
}

/// Measures programs from outside; tells whether no figure is missed.
fn by_programs(arguments: &Arguments, root: &Path) -> Result<bool, String> {
    let runtime = Runtime::new().map_err(|error| format!("failed to start a runtime: {error}"))?;
    let machine = Machine::of_this_process();
    let built = Built::now(root)?;
    let told = runtime.block_on(async {
        match arguments.what {
            What::Idle => idle::measured(&built, &machine).await,
            What::Leave => leave::measured(&built, &machine).await,
            _ => start::measured(&built, arguments.npm_dir.as_deref(), &machine).await,
        }
    })?;
    match arguments.format {
        Format::Text => say!("{}", told.table),
        Format::Json => say!("{}", told.json),
    }
    Ok(told.holds)
}
