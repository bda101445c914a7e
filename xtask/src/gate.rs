//! `cargo xtask gate`: the main job. Runs `standin gate` as a user would, and keeps its reports below `target/`.

use crate::outcome::Outcome;
use clap::Args;
use std::path::Path;
use std::process::Command;

/// What `cargo xtask gate` may be told.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// More words for `standin gate`, e.g. --phase 2.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    more: Vec<String>,
}

/// The exit code with which `standin` says that it was asked for something that can't be.
const MISUSE: i32 = 2;
/// The exit code with which `standin` says that it could not check.
const COULD_NOT_CHECK: i32 = 3;

pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let status = Command::new("cargo")
        .args(["run", "--quiet", "--locked", "--package", "cli", "--", "gate", "--out", "target/gate"])
        .args(&arguments.more)
        .current_dir(root)
        .status();
    match status {
        Ok(status) if status.success() => Outcome::Holds,
        Ok(status) if status.code() == Some(MISUSE) => {
            Outcome::Misuse("`standin gate` does not know these words; its output is above".to_owned())
        }
        Ok(status) if status.code() == Some(COULD_NOT_CHECK) => {
            Outcome::Untestable("the gate could not check everything; its output is above".to_owned())
        }
        Ok(status) => Outcome::Fails(format!("the gate does not hold ({status}); its output is above")),
        Err(error) => Outcome::Untestable(format!("cargo could not be started: {error}")),
    }
}
