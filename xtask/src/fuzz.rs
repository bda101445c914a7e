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
    /// How many inputs.
    #[arg(long, default_value_t = 10_000_000, value_name = "N")]
    inputs: u64,
    /// The same seed gives the same inputs.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

/// A codec with a second, independent one beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Codec {
    /// The parser of event streams.
    Sse,
}

pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let Codec::Sse = arguments.codec;
    let (inputs, seed) = (arguments.inputs.to_string(), arguments.seed.to_string());
    let build =
        ["cargo", "run", "--release", "--locked", "--package", "fixtures", "--example", "fuzz_sse", "--"];
    step::run(root, &[&build[..], &[inputs.as_str(), seed.as_str()]].concat(), &[])
}
