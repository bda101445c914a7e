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
    let What::Proxy = arguments.what;
    let word = if arguments.format == Format::Json { "json" } else { "text" };
    let line = [
        "run",
        "--quiet",
        "--release",
        "--locked",
        "--package",
        "recorder",
        "--example",
        "bench_proxy",
        "--",
    ];
    let status = Command::new("cargo").args(line).arg(word).current_dir(root).stdin(Stdio::null()).status();
    match status.map(|status| status.code()) {
        Ok(Some(0)) => Outcome::Holds,
        Ok(Some(1)) => Outcome::Fails("the proxy costs more than it may: the figures say where".to_owned()),
        Ok(_) => Outcome::Untestable("nothing could be measured; why stands above".to_owned()),
        Err(error) => Outcome::Untestable(format!("cargo could not be started: {error}")),
    }
}
