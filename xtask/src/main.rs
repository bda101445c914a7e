//! The repository's command centre: one file per command, and no logic that a crate could own.
//!
//! A new command is a module, a line in [`Command`] whose doc comment is its help, and an arm in [`run`].

#![deny(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "they panic when the reader has left; `say!` does not"
)]

mod adapters;
mod bench;
mod cargo_tool;
mod clients;
mod control_clients;
mod evidence;
mod extras;
mod fuzz;
mod gate;
mod kills;
mod kit_clients;
mod lint;
mod mutants;
mod outcome;
mod package;
mod page;
mod pinned;
mod plan;
mod probe;
mod providers;
mod real;
mod record;
mod schemas;
mod start_up;
mod step;
mod sweep;
mod test;
mod tidy;
mod truth;
mod walk;

use clap::{CommandFactory, Parser, Subcommand};
use outcome::Outcome;
use std::path::Path;
use std::process::ExitCode;

/// The repository's command centre. Exit codes: 0 all holds, 1 something fails, 2 misuse, 3 could not check.
#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the clients in adapters/ and the servers' own commands through the cases, and compare the verdicts.
    Adapters(adapters::Arguments),
    /// Measure what the recording proxy costs, beside a bare TCP copy.
    Bench(bench::Arguments),
    /// Let the official SDKs live with the real servers and with the stand-in, and compare what they see.
    Clients(clients::Arguments),
    /// Ask the recordings what is known of the real servers, and write docs/evidence.md.
    Evidence(evidence::Arguments),
    /// Feed random inputs to a codec beside a second one, or random plans of faults to the stand-in.
    Fuzz(fuzz::Arguments),
    /// Run the phase gate: the stand-in, the reference adapter, the mutants, the matrix, the report.
    Gate(gate::Arguments),
    /// Run every broken client in every case: which check catches whom. Takes minutes.
    Mutants,
    /// Pack the program for a platform: an archive, packages of npm, a wheel of Python, checksums.
    Package(package::Arguments),
    /// Count the statements of a plan, and hold them against the index that requirements claim from.
    Plan(plan::Arguments),
    /// Ask the real servers and the stand-ins what the same agents may do, and compare.
    Probe(probe::Arguments),
    /// Record scenarios with the real servers again, and compare with the kept recordings.
    Record(record::Arguments),
    /// Ask the real servers for the providers that they know, and compare with what is kept.
    Providers(providers::Arguments),
    /// Kill the recorder many times, and look for what is left.
    Kills(kills::Arguments),
    /// Break every scenario at every place in virtual time: the reference adapter has to hold.
    Sweep(sweep::Arguments),
    /// Hold the stand-in's world and its replay against every recording.
    Truth(truth::Arguments),
    /// Perform random walks with the real servers and with the stand-in, and compare.
    Walk(walk::Arguments),
    /// Hold the JSON Schemas that editors use against the formats, or with --update write them anew.
    Schemas(schemas::Arguments),
    /// Ask the released command what it calls until it is ready, and write the list that its linker follows.
    #[command(
        after_help = "Needs valgrind, and nm of a C compiler. To be run when `cargo xtask bench idle` says that it does not hold:\n\n    cargo xtask start-up"
    )]
    StartUp,
    /// Run all tests, and with --extra those that need more than a Rust toolchain.
    Test(test::Arguments),
    /// Check formatting, clippy, tidy, and cargo-deny where it is installed.
    Lint,
    /// Check the house rules that no compiler knows.
    Tidy,
}

fn main() -> ExitCode {
    let root = root();
    let outcome = run(Cli::parse().command, root);
    outcome.report();
    match harness::say::lost() {
        Some(why) => Outcome::of_all([outcome, Outcome::Untestable(why.to_owned())]).exit_code(),
        None => outcome.exit_code(),
    }
}

fn run(command: Command, root: &Path) -> Outcome {
    match command {
        Command::Adapters(arguments) => adapters::run(&arguments, root),
        Command::Bench(arguments) => bench::run(&arguments, root),
        Command::Clients(arguments) => clients::run(&arguments, root),
        Command::Evidence(arguments) => evidence::run(&arguments, root),
        Command::Fuzz(arguments) => fuzz::run(&arguments, root),
        Command::Gate(arguments) => gate::run(&arguments, root),
        Command::Mutants => mutants::run(),
        Command::Package(arguments) => package::run(&arguments, root),
        Command::Plan(arguments) => plan::run(&arguments, root),
        Command::Probe(arguments) => probe::run(&arguments, root),
        Command::Record(arguments) => record::run(&arguments, root),
        Command::Providers(arguments) => providers::run(&arguments, root),
        Command::Kills(arguments) => kills::run(&arguments, root),
        Command::Sweep(arguments) => sweep::run(&arguments, root),
        Command::Truth(arguments) => truth::run(&arguments, root),
        Command::Schemas(arguments) => schemas::run(&arguments, root),
        Command::StartUp => start_up::run(root),
        Command::Test(arguments) => test::run(&arguments, root),
        Command::Walk(arguments) => walk::run(&arguments, root),
        Command::Lint => lint::run(root),
        Command::Tidy => tidy::run(root),
    }
}

/// The folder of the repository. Known when this was built, so that a command works from every folder below it.
fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// Every word that may follow `cargo xtask`, so that a rule can hold the documentation to it.
fn command_names() -> Vec<String> {
    let cli = Cli::command();
    let own = cli.get_subcommands().map(|command| command.get_name().to_owned());
    own.chain([String::from("help")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_help() {
        for command in Cli::command().get_subcommands() {
            assert!(command.get_about().is_some(), "`{}` has no doc comment", command.get_name());
        }
    }

    #[test]
    fn misuse_is_exit_code_2() {
        for wrong in [
            &["xtask", "tset"][..],
            &["xtask", "test", "--extra", "ruby"],
            &["xtask", "test", "--require-all"],
            &["xtask", "record", "no/such"],
            &["xtask", "record", "--server", "vim"],
            &["xtask", "record", "--keep-as", "../x"],
        ] {
            let error = Cli::try_parse_from(wrong).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{wrong:?}");
        }
    }

    #[test]
    fn an_unknown_scenario_is_told_once_before_any_server_is_started() {
        let error = Cli::try_parse_from(["xtask", "record", "text/plian"]).unwrap_err().to_string();
        assert_eq!(
            error.matches("there is no scenario 'text/plian'; did you mean 'text/plain'?").count(),
            1,
            "{error}"
        );
    }
}
