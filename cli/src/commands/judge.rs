//! `standin judge HISTORY`: judges a saved history again.

use super::{Failure, Outcome, code_of, read_recording};
use clap::Args;
use harness::say;
use std::path::PathBuf;
use std::process::ExitCode;

/// Which history.
#[derive(Debug, Args)]
#[command(after_help = "Nothing is run: the checks look at what was kept.

    standin check --histories h
    standin judge h/reconnect/cut-in-mid-turn.kilo.reference.jsonl

Exit codes: 0 all checks pass, 1 one fails, 2 misuse, 3 nothing could be examined.")]
pub(crate) struct Arguments {
    /// A history that `standin check --histories` or the gate kept, a .jsonl file.
    history: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let history = read_recording(&arguments.history)?;
    if let Some(why) = harness::judge::no_history(&history) {
        return Err(Failure::Misuse(format!("{}: {why}", arguments.history.display())));
    }
    let judgement = harness::judge::judge(&history.lines);
    judgement.troubles.iter().for_each(|trouble| say!("{trouble}"));
    for judged in &judgement.checks {
        say!("{}: {} ({} facts)", judged.check, judged.verdict, judged.facts);
        judged.findings.iter().for_each(|finding| say!("    {finding}"));
    }
    say!("{}", judgement.verdict);
    Ok(ExitCode::from(code_of(judgement.verdict)))
}
