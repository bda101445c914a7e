//! `standin adapter`: the reference adapter, or a mutant of it, as a process on stdin and stdout.

use super::{Failure, Outcome, runtime};
use clap::Args;
use harness::reference::{Strategies, serve};
use std::process::ExitCode;
use tokio::io::{BufReader, stdin, stdout};

/// Which adapter.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Break one promise: the name of a mutant.
    #[arg(long)]
    mutant: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let strategies = match &arguments.mutant {
        None => Strategies::default(),
        Some(name) => match harness::mutants::find(name) {
            Some(mutant) => (mutant.strategies)(),
            None => return Err(Failure::Misuse(format!("there is no mutant '{name}'"))),
        },
    };
    let runtime = runtime()?;
    let served = runtime.block_on(serve(strategies, BufReader::new(stdin()), stdout()));
    // A read of stdin can't be interrupted: after `shutdown` nobody waits for it.
    runtime.shutdown_background();
    served.map_err(|error| Failure::CouldNot(error.to_string()))?;
    Ok(ExitCode::SUCCESS)
}
