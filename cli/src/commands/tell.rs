//! `standin tell FILE`: what happened in a recording, a journal or a history, in words.

use super::{Outcome, read_recording};
use clap::Args;
use fixtures::recording::tell;
use harness::say;
use std::path::PathBuf;
use std::process::ExitCode;

/// Which file.
#[derive(Debug, Args)]
#[command(
    after_help = "A line for each request, answer, event, fault and end, with its time, its lane and its exchange:

    standin serve --fault \"cut after 5 events\" --journal run.jsonl
    standin tell run.jsonl

Exit codes: 0 told, 2 misuse, a file that can't be read among it."
)]
pub(crate) struct Arguments {
    /// A .jsonl file.
    file: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let recording = read_recording(&arguments.file)?;
    say!("{}", tell(&recording.lines).trim_end());
    Ok(ExitCode::SUCCESS)
}
