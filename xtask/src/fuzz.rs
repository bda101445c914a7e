//! `cargo xtask fuzz`: more random inputs than a test run can wait for. A test run does less of the same.

use crate::outcome::Outcome;
use crate::step;
use clap::ValueEnum;
use std::path::Path;

/// What `cargo xtask fuzz` may be told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What is fed.
    #[arg(value_enum)]
    codec: Codec,
    /// How many inputs; 10,000,000 texts for a codec and 1,000 plans when nothing is said.
    #[arg(long, value_name = "N")]
    inputs: Option<u64>,
    /// The same seed gives the same inputs.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

/// What random inputs are fed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Codec {
    /// The parser of event streams, beside a second, independent one.
    Sse,
    /// The stand-in: plans of faults, each twice under the logical clock.
    Plans,
}

pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let (package, example, usual) = match arguments.codec {
        Codec::Sse => ("fixtures", "fuzz_sse", 10_000_000),
        Codec::Plans => ("mock-server", "fuzz_plans", 1_000),
    };
    let (inputs, seed) = (arguments.inputs.unwrap_or(usual).to_string(), arguments.seed.to_string());
    let build = ["cargo", "run", "--release", "--locked", "--package", package, "--example", example, "--"];
    step::run(root, &[&build[..], &[inputs.as_str(), seed.as_str()]].concat(), &[])
}
