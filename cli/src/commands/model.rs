//! `standin model`: a scenario's agent over HTTP, in the OpenAI dialect.

use super::{Failure, Outcome, runtime, scenario, told_to_end, words};
use clap::Args;
use fixtures::error::io_words;
use harness::{complain, say};
use mock_server::model::http::{ModelOptions, ModelServer};
use mock_server::model::{Answer, ChatRequest, Gates, Script};
use std::process::ExitCode;
use std::sync::Arc;

/// What the model plays.
#[derive(Debug, Args)]
#[command(
    after_help = "Point a real server's OpenAI-compatible provider at the address that is printed; any key and
model name will do. A call that the scenario does not know is refused with 400, and says why:

    standin model --scenario permission/write-allowed-once --port 4100
    standin model --scenario mine.toml --workspace /srv/project

A file of yours needs its [user] part here too, with a prompt for each turn: nobody performs it, but
a scenario is read as a whole.

An answer that the scenario holds at a gate goes on when somebody opens it:

    curl -X POST http://127.0.0.1:4100/standin/gates/mid
    curl http://127.0.0.1:4100/standin/report

It serves until it is ended with Ctrl-C. Then, and in the report, it tells which parts of the scenario
nobody asked for, and what it was asked for in vain.
Exit codes: 0 all that was asked had an answer, 1 something was asked for in vain, 2 misuse, 3 the port
can't be had."
)]
pub(crate) struct Arguments {
    /// A scenario, as area/name, or a .toml file.
    #[arg(long, value_parser = words::some_text())]
    scenario: String,
    /// The port on 127.0.0.1; 0 takes any free one.
    #[arg(long, default_value_t = 0, value_parser = words::port, allow_negative_numbers = true)]
    port: u16,
    /// What stands for ${workspace} in the arguments of tools.
    #[arg(long, default_value = "/workspace", value_parser = words::some_text())]
    workspace: String,
    /// Let no gate of the scenario hold an answer.
    #[arg(long)]
    open_gates: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let script = Script::new(scenario(&arguments.scenario)?, &arguments.workspace);
    let on_call =
        Arc::new(|_: &ChatRequest, answer: &Answer| complain!("asked; answered with {}", answer.answered));
    let gates = if arguments.open_gates { Gates::all_open() } else { Gates::default() };
    runtime()?.block_on(async {
        let port = arguments.port;
        let failed = |error: std::io::Error| {
            Failure::CouldNot(format!(
                "failed to listen on 127.0.0.1:{port}: {}; choose another --port, or 0 for any free one",
                io_words(&error)
            ))
        };
        let model =
            ModelServer::start(script, ModelOptions { port, gates, on_call, ..ModelOptions::default() })
                .await
                .map_err(failed)?;
        let end = told_to_end()?;
        say!("standin model listening on {}/v1", model.url());
        end.await;
        let report = model.report();
        for unused in &report.unused {
            complain!("never asked for: {unused}");
        }
        for unscripted in &report.unscripted {
            complain!("asked for in vain: {unscripted}");
        }
        Ok(if report.unscripted.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}
