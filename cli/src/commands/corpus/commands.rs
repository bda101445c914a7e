//! `standin corpus commands`: lines for a shell, and whether one may run without asking.

use super::{Format, cases_of, named_or};
use crate::commands::Outcome;
use clap::{Args, ValueEnum};
use fixtures::commands::{Policy, told};
use std::process::ExitCode;

/// Which lines, and how they are told.
#[derive(Debug, Args)]
#[command(
    after_help = "Each case has a line, the list of what the person has allowed, what was said before, and the verdict
of each policy: allow, ask, or not-applicable with the reason. docs/corpora.md has tests in Python and
TypeScript.

    standin corpus commands --policy every-segment --format json
    standin corpus commands --kind chains --kind choices"
)]
pub(super) struct Commands {
    /// What is told of each case; without it, all policies.
    #[arg(long, value_enum)]
    policy: Vec<PolicyWord>,
    /// Lines of this kind alone; may be given again.
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// How it is told.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PolicyWord {
    /// The line stands in the list, letter by letter.
    Exact,
    /// Or it is one command whose first words are those of an entry.
    ArgvPrefix,
    /// Or it is several such commands.
    EverySegment,
}

impl From<PolicyWord> for Policy {
    fn from(word: PolicyWord) -> Self {
        match word {
            PolicyWord::Exact => Self::Exact,
            PolicyWord::ArgvPrefix => Self::ArgvPrefix,
            PolicyWord::EverySegment => Self::EverySegment,
        }
    }
}

pub(super) fn run(arguments: &Commands) -> Outcome {
    let policies = named_or(arguments.policy.iter().map(|word| (*word).into()), Policy::ALL);
    let all = cases_of(&arguments.kind)?;
    arguments.format.tell(&told(&all, &policies));
    Ok(ExitCode::SUCCESS)
}
