//! `standin compare A B`: two recordings of one scenario, equal or where not.

use super::{FAILS, Failure, Outcome};
use clap::Args;
use fixtures::catalog;
use fixtures::recording::Recording;
use harness::truth::differences;
use std::path::PathBuf;
use std::process::ExitCode;

/// Which recordings.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The first recording, a .jsonl file.
    first: PathBuf,
    /// The second recording.
    second: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let first = Recording::read(&arguments.first)?;
    let second = Recording::read(&arguments.second)?;
    if first.header.server != second.header.server {
        let (one, two) = (first.header.server, second.header.server);
        return Err(Failure::Misuse(format!(
            "the first was recorded from {one}, the second from {two}: nothing to compare"
        )));
    }
    let found = differences(&first, &second, &catalog::floats(first.header.server)?);
    if found.is_empty() {
        println!("equal");
        return Ok(ExitCode::SUCCESS);
    }
    found.iter().for_each(|difference| println!("{difference}"));
    println!("{} differences", found.len());
    Ok(ExitCode::from(FAILS))
}
