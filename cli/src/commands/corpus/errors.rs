//! `standin corpus errors`: errors that a program meets that talks to a model, and what has to be made of each.

use super::{Format, cases_of};
use crate::commands::Outcome;
use clap::Args;
use fixtures::failures::told;
use std::process::ExitCode;

/// Which errors, and how they are told.
#[derive(Debug, Args)]
#[command(
    after_help = "Each case has an answer over HTTP, or what is thrown as node says it; the categories that it may have; and
whether the same thing is worth another try: yes, no, or not-applicable with the reason. Some say the key that
stands at the top of the JSON: nothing that is shown, logged or sent may hold it. docs/corpora.md has tests.

    standin corpus errors --format json
    standin corpus errors --kind connections --kind troubles"
)]
pub(super) struct Errors {
    /// Errors of this kind alone; may be given again.
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// How it is told.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(super) fn run(arguments: &Errors) -> Outcome {
    let all = cases_of(&arguments.kind)?;
    arguments.format.tell(&told(&all));
    Ok(ExitCode::SUCCESS)
}
