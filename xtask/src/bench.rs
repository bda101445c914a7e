//! `cargo xtask bench`: measures what something costs, beside what it may cost.

use crate::outcome::Outcome;
use clap::{Args, ValueEnum};
use std::path::Path;
use std::process::{Command, Stdio};

/// What is measured, and how it is told.
#[derive(Debug, Args)]
#[command(
    after_help = "Measured are the latency of an exchange and of a frame of a stream, and the throughput of long bodies and of frames:
with nobody between client and server, with a bare TCP copy, and with the proxy of `standin record --proxy`, in turns.
The proxy may add 1.5 times what the copy adds, and must let 0.7 of the copy's throughput through:

    cargo xtask bench proxy
    cargo xtask bench proxy --format json

And how many frames of a long answer reach 1, 100 and 1,000 subscribers in a second: of the stand-in, and of bare hyper
that sends the same frames, one write each or joined. The stand-in is to reach 0.8 of both:

    cargo xtask bench streams

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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// What stands between a client and a server that is recorded.
    Proxy,
    /// Frames on their way to many subscribers.
    Streams,
}

impl What {
    /// The package and its example that measures it; what is wrong when a figure is missed.
    fn measured_by(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Proxy => {
                ("recorder", "bench_proxy", "the proxy costs more than it may: the figures say where")
            }
            Self::Streams => {
                ("mock-server", "bench_streams", "frames are slower than they may be: the figures say where")
            }
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
    let (package, example, missed) = arguments.what.measured_by();
    let word = if arguments.format == Format::Json { "json" } else { "text" };
    let line = ["run", "--quiet", "--release", "--locked", "--package", package, "--example", example, "--"];
    let status = Command::new("cargo").args(line).arg(word).current_dir(root).stdin(Stdio::null()).status();
    match status.map(|status| status.code()) {
        Ok(Some(0)) => Outcome::Holds,
        Ok(Some(1)) => Outcome::Fails(missed.to_owned()),
        Ok(_) => Outcome::Untestable("nothing could be measured; why stands above".to_owned()),
        Err(error) => Outcome::Untestable(format!("cargo could not be started: {error}")),
    }
}
