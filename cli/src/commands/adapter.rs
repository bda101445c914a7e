//! `standin adapter`: the reference adapter, or a mutant of it, as a process on stdin and stdout.

use super::{Failure, Outcome, kit, mutant, read_text, runtime};
use clap::Args;
use fixtures::error::parse_toml;
use harness::reference::{Strategies, serve};
use kits::adapter::{self, Adapter};
use kits::{acp, pipeline};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::io::{AsyncWriteExt as _, BufReader, stdin, stdout};

/// Which adapter.
#[derive(Debug, Args)]
#[command(
    after_help = "It reads JSON-RPC requests from stdin, one a line, and writes answers and updates to stdout,
until stdin ends or it is told to shut down. It is meant to be started by a harness:

    standin check --adapter 'standin adapter'
    standin check --adapter 'standin adapter --mutant resume_without_refresh'
    standin kit guards --adapter 'standin adapter --kit guards'
    standin kit pipeline --adapter 'standin adapter --kit pipeline --commands my-runner.toml'
    standin kit acp --adapter 'standin adapter --kit acp --commands my-client.toml'

Exit codes: 0 it was told to end or stdin ended, 2 misuse, 3 stdin or stdout broke."
)]
pub(crate) struct Arguments {
    /// Break one promise: the name of a mutant.
    #[arg(long)]
    mutant: Option<String>,
    /// Be the reference adapter of this kit.
    #[arg(long)]
    kit: Option<String>,
    /// With --kit pipeline or acp: run this file's commands in place of a runner or a client.
    #[arg(long, value_name = "FILE", requires = "kit", conflicts_with = "mutant")]
    commands: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    if let Some(name) = &arguments.kit {
        return run_kit(name, arguments.mutant.as_deref(), arguments.commands.as_deref());
    }
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

/// How much a pipe between the program's streams and the adapter holds.
const PIPE_BYTES: usize = 64 * 1024;

/// A kit's adapter serves a pipe; the program's streams are its other end.
fn run_kit(name: &str, mutant: Option<&str>, commands: Option<&Path>) -> Outcome {
    let kit = kit::named(name)?;
    let commands = commands.map(|file| read_commands(name, file)).transpose()?;
    let mutant = mutant.map(|name| kit::mutant(kit, name)).transpose()?;
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        let (reader, writer) = tokio::io::split(theirs);
        let (mut from_adapter, mut to_adapter) = tokio::io::split(ours);
        let read = tokio::spawn(async move {
            tokio::io::copy(&mut stdin(), &mut to_adapter).await?;
            to_adapter.shutdown().await
        });
        let serving = match commands {
            Some(commands) => tokio::spawn(adapter::serve(commands, reader, writer)),
            None => tokio::spawn(kit.serve(mutant, reader, writer)),
        };
        // It ends with the adapter, whose writer is then gone.
        let written = tokio::io::copy(&mut from_adapter, &mut stdout()).await;
        read.abort();
        // It has ended: its writer is gone.
        let _served = serving.await;
        written
    });
    // A read of stdin can't be interrupted: after `shutdown` nobody waits for it.
    runtime.shutdown_background();
    served.map_err(|error| Failure::CouldNot(error.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

fn read_commands(kit: &str, file: &Path) -> Result<Arc<dyn Adapter>, Failure> {
    match kit {
        "pipeline" => {
            let commands: pipeline::commands::Commands = parse_toml(file, &read_text(file)?)?;
            Ok(Arc::new(commands))
        }
        "acp" => {
            let commands: acp::commands::Commands = parse_toml(file, &read_text(file)?)?;
            commands.adapter().map_err(|why| Failure::Misuse(format!("{}: {why}", file.display())))
        }
        _ => Err(Failure::Misuse(format!(
            "--commands are for runners and for clients of agents: say --kit pipeline or --kit acp, not --kit {kit}"
        ))),
    }
}
