//! `standin model`: a scenario's agent over HTTP, in the OpenAI dialect.

use super::{Failure, Outcome, runtime, scenario, until_told_to_end};
use clap::Args;
use mock_server::model::http::{ModelOptions, ModelServer};
use mock_server::model::{Answer, ChatRequest, Gates, Script};
use std::process::ExitCode;
use std::sync::Arc;

/// What the model plays.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A scenario, as area/name, or a .toml file.
    #[arg(long)]
    scenario: String,
    /// The port on 127.0.0.1; 0 takes any free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// What stands for ${workspace} in the arguments of tools.
    #[arg(long, default_value = "/workspace")]
    workspace: String,
    /// Let no gate of the scenario hold an answer; else `POST /standin/gates/NAME` opens one.
    #[arg(long)]
    open_gates: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let script = Script::new(scenario(&arguments.scenario)?, &arguments.workspace);
    let on_call =
        Arc::new(|_: &ChatRequest, answer: &Answer| eprintln!("asked; answered with {}", answer.answered));
    let gates = if arguments.open_gates { Gates::all_open() } else { Gates::default() };
    runtime()?.block_on(async {
        let port = arguments.port;
        let failed = |error| {
            Failure::CouldNot(format!("failed to listen on 127.0.0.1:{port}: {error}; choose another --port"))
        };
        let model =
            ModelServer::start(script, ModelOptions { port, gates, on_call, ..ModelOptions::default() })
                .await
                .map_err(failed)?;
        println!("standin model listening on {}/v1", model.url());
        until_told_to_end().await?;
        let report = model.report();
        for unused in &report.unused {
            eprintln!("never asked for: {unused}");
        }
        for unscripted in &report.unscripted {
            eprintln!("asked for in vain: {unscripted}");
        }
        Ok(if report.unscripted.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}
