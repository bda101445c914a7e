//! `standin judge HISTORY`: judges a saved history again.

use super::{Failure, Outcome, code_of};
use clap::Args;
use fixtures::recording::Recording;
use std::path::PathBuf;
use std::process::ExitCode;

/// Which history.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A history that `standin check --histories` or the gate kept, a .jsonl file.
    history: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let history = Recording::read(&arguments.history)?;
    if let Some(why) = harness::judge::no_history(&history) {
        return Err(Failure::Misuse(format!("{}: {why}", arguments.history.display())));
    }
    let judgement = harness::judge::judge(&history.lines);
    judgement.troubles.iter().for_each(|trouble| println!("{trouble}"));
    for judged in &judgement.checks {
        println!("{}: {} ({} facts)", judged.check, judged.verdict, judged.facts);
        judged.findings.iter().for_each(|finding| println!("    {finding}"));
    }
    println!("{}", judgement.verdict);
    Ok(ExitCode::from(code_of(judgement.verdict)))
}
