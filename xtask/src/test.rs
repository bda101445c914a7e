//! `cargo xtask test`: every test of the workspace, and on demand those that need more than a Rust toolchain.

use crate::extras::{self, Extra};
use crate::outcome::Outcome;
use crate::{cargo_tool, step};
use harness::say;
use std::path::Path;

/// What `cargo xtask test` may be told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Also run the tests that need these tools; what can't be tested here is named.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WORD,…")]
    extra: Vec<Extra>,
    /// Exit with 3 if a word of --extra can't be tested.
    #[arg(long, requires = "extra")]
    require_all: bool,
    /// Run the tests of --extra alone.
    #[arg(long, requires = "extra")]
    alone: bool,
}

/// A test run must not write into the repository: a snapshot that differs fails, and is not replaced.
const ENVIRONMENT: [(&str, &str); 2] = [("INSTA_UPDATE", "no"), ("CI", "true")];

pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let lines = if arguments.alone { &[] } else { command_lines() };
    let steps = lines.iter().map(|line| step::run(root, line, &ENVIRONMENT));
    let extras = arguments
        .extra
        .iter()
        .map(|extra| extras::run(*extra, root))
        .filter(|outcome| arguments.require_all || !matches!(outcome, Outcome::Untestable(_)));
    Outcome::of_all(steps.chain(extras))
}

/// nextest runs each test in a process of its own, but no documentation tests.
fn command_lines() -> &'static [&'static [&'static str]] {
    if cargo_tool::is_installed("nextest") {
        &[
            &["cargo", "nextest", "run", "--workspace", "--locked"],
            &["cargo", "test", "--doc", "--workspace", "--locked"],
        ]
    } else {
        say!("cargo-nextest is not installed; `cargo test` does, more slowly");
        &[&["cargo", "test", "--workspace", "--locked"]]
    }
}
