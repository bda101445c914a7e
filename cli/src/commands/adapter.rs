//! `standin adapter`: the reference adapter, or a mutant of it, as a process on stdin and stdout.

use super::{Failure, Outcome, mutant, runtime};
use clap::Args;
use harness::reference::{Strategies, serve};
use std::process::ExitCode;
use tokio::io::{BufReader, stdin, stdout};

/// Which adapter.
#[derive(Debug, Args)]
#[command(
    after_help = "It reads JSON-RPC requests from stdin, one a line, and writes answers and updates to stdout,
until stdin ends
or it is told to shut down. It is meant to be started by a harness:

    standin check --adapter 'standin adapter'
    standin check --adapter 'standin adapter --mutant resume_without_refresh'

Exit codes: 0 it was told to end or stdin ended, 2 misuse, 3 stdin or stdout broke."
)]
pub(crate) struct Arguments {
    /// Break one promise: the name of a mutant.
    #[arg(long)]
    mutant: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let strategies = match &arguments.mutant {
        None => Strategies::default(),
        Some(name) => (mutant(name)?.strategies)(),
    };
    let runtime = runtime()?;
    let served = runtime.block_on(serve(strategies, BufReader::new(stdin()), stdout()));
    // A read of stdin can't be interrupted: after `shutdown` nobody waits for it.
    runtime.shutdown_background();
    served.map_err(|error| Failure::CouldNot(error.to_string()))?;
    Ok(ExitCode::SUCCESS)
}
