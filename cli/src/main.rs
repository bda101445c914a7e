//! The `standin` command: wires the parts together. One file per command in `commands/`; no logic of its own.

#![deny(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "they panic when the reader has left; `say!` does not"
)]

mod commands;

use clap::{Parser, Subcommand};
use harness::{complain, say};
use std::path::PathBuf;
use std::process::ExitCode;

/// A stand-in server, a recorder and a parity harness for programs that talk to coding-agent servers.
///
/// Exit codes: 0 all holds, 1 something fails, 2 misuse, 3 could not check.
#[derive(Debug, Parser)]
#[command(name = "standin", version, arg_required_else_help = true, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "Start here:

    standin serve                     stands in for `kilo serve`; point a client at the address it prints
    standin serve --profile opencode  the same for `opencode serve`
    standin check                     runs every parity case with the reference adapter
    standin help serve                what a command does, with examples";

#[derive(Debug, Subcommand)]
enum Command {
    /// Stand in for a server: perform a scenario, or play a recording again.
    Serve(commands::serve::Arguments),
    /// Be an agent on stdin and stdout that speaks ACP, in several dialects.
    Acp(commands::acp::Arguments),
    /// Be the command kilo, opencode or kiro-cli to a client that starts its server itself.
    As(commands::stand_for::Arguments),
    /// Serve a scenario's model over HTTP, for a real server to ask.
    Model(commands::model::Arguments),
    /// Stand in for the cloud that tells a user the news: behind a token, in two shapes, broken on cue.
    Cloud(commands::cloud::Arguments),
    /// Record a scenario with a real server, or with a program that serves as one does.
    Record(commands::record::Arguments),
    /// Compare two recordings of one scenario.
    Compare(commands::compare::Arguments),
    /// Tell in words what happened in a recording, a journal or a history.
    Tell(commands::tell::Arguments),
    /// Say what a release changes for clients of another one, by recordings and by /doc.
    Drift(commands::drift::Arguments),
    /// Give a corpus to anyone's tests, in any language: paths, commands, policies of a webview, errors, histories.
    Corpus(commands::corpus::Arguments),
    /// Say what agents may really do, beside what their files declare.
    Probe(commands::probe::Arguments),
    /// Run parity cases with an adapter; with the reference adapter when none is named.
    Check(commands::check::Arguments),
    /// Break a scenario at every place, and say where an adapter does not hold.
    Sweep(commands::sweep::Arguments),
    /// Judge a saved history again.
    Judge(commands::judge::Arguments),
    /// Run the gates of phases with an adapter, the reference and its mutants when none is named; write reports.
    Gate(commands::gate::Arguments),
    /// Run the cases of a kit with an adapter: guards, rewinds, pipelines, clients of agents.
    Kit(commands::kit::Arguments),
    /// Put reports of gates together, or show one in another format.
    Report(commands::report::Arguments),
    /// Be the reference adapter, on stdin and stdout.
    Adapter(commands::adapter::Arguments),
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().map(PathBuf::from).unwrap_or_default();
    let outcome = match commands::stand_for::named(&name) {
        Some(command) => commands::stand_for::run_as(command, &Vec::from_iter(arguments)),
        None => run(Cli::parse().command),
    };
    let code = match outcome {
        Ok(code) => code,
        Err(failure) => {
            complain!("standin: {failure}");
            failure.exit_code()
        }
    };
    let lost = say::lost().map(|why| commands::Failure::CouldNot(why.to_owned()));
    lost.map_or(code, |failure| {
        complain!("standin: {failure}");
        failure.exit_code()
    })
}

fn run(command: Command) -> commands::Outcome {
    match command {
        Command::Serve(arguments) => commands::serve::run(arguments),
        Command::Acp(arguments) => commands::acp::run(arguments),
        Command::As(arguments) => commands::stand_for::run(arguments),
        Command::Model(arguments) => commands::model::run(&arguments),
        Command::Cloud(arguments) => commands::cloud::run(&arguments),
        Command::Record(arguments) => commands::record::run(&arguments),
        Command::Tell(arguments) => commands::tell::run(&arguments),
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Drift(arguments) => commands::drift::run(&arguments),
        Command::Corpus(arguments) => commands::corpus::run(&arguments),
        Command::Probe(arguments) => commands::probe::run(&arguments),
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Sweep(arguments) => commands::sweep::run(&arguments),
        Command::Judge(arguments) => commands::judge::run(&arguments),
        Command::Gate(arguments) => commands::gate::run(&arguments),
        Command::Kit(arguments) => commands::kit::run(&arguments),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::Adapter(arguments) => commands::adapter::run(&arguments),
    }
}
