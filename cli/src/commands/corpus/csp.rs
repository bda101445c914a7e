//! `standin corpus csp`: policies of a webview, and which rules each keeps.

use super::{Format, cases_of, named_or};
use crate::commands::Outcome;
use clap::{Args, ValueEnum};
use fixtures::csp::{Rule, told};
use std::process::ExitCode;

/// Which policies, and how they are told.
#[derive(Debug, Args)]
#[command(
    after_help = "Each case has a policy and the verdict of each rule: holds, broken, or not-applicable with the reason.
The rule `images` is an advice. docs/corpora.md has tests in Python and TypeScript.

    standin corpus csp --format json
    standin corpus csp --kind placeholders --rule sources"
)]
pub(super) struct Csp {
    /// What is told of each case; without it, all rules.
    #[arg(long, value_enum)]
    rule: Vec<RuleWord>,
    /// Policies of this kind alone; may be given again.
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// How it is told.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RuleWord {
    /// What is not named is not let in.
    Default,
    /// Scripts come from named places alone.
    Script,
    /// Styles alone may stand within the page.
    Inline,
    /// It connects to named hosts alone.
    Connect,
    /// Styles and fonts come from named places alone.
    Styles,
    /// Every source is one: no placeholder is left.
    Sources,
    /// Images don't come from any host.
    Images,
}

impl From<RuleWord> for Rule {
    fn from(word: RuleWord) -> Self {
        match word {
            RuleWord::Default => Self::Default,
            RuleWord::Script => Self::Script,
            RuleWord::Inline => Self::Inline,
            RuleWord::Connect => Self::Connect,
            RuleWord::Styles => Self::Styles,
            RuleWord::Sources => Self::Sources,
            RuleWord::Images => Self::Images,
        }
    }
}

pub(super) fn run(arguments: &Csp) -> Outcome {
    let rules = named_or(arguments.rule.iter().map(|word| (*word).into()), Rule::ALL);
    let all = cases_of(&arguments.kind)?;
    arguments.format.tell(&told(&all, &rules));
    Ok(ExitCode::SUCCESS)
}
