//! `cargo xtask kills`: kills the recorder as often as one likes, at moments that a seed chooses.

use crate::outcome::Outcome;
use crate::step;
use clap::Args;
use std::path::Path;

/// How often, and when.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many recorders are killed.
    #[arg(long, default_value_t = 200)]
    count: u64,
    /// Chooses the moments; the test names the one that a failure needs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the test that kills; without nextest, which would end a test that takes this long.
pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let environment =
        [("STANDIN_KILLS", arguments.count.to_string()), ("STANDIN_KILLS_SEED", arguments.seed.to_string())];
    let environment = environment.each_ref().map(|(name, value)| (*name, value.as_str()));
    step::run(root, &["cargo", "test", "--locked", "-p", "cli", "--test", "standin", "killed"], &environment)
}
