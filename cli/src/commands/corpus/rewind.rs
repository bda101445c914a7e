//! `standin corpus history|checkpoints|tokens`: the corpora about an edited message and about a cloud's token.

use super::{Format, cases_of};
use crate::commands::Outcome;
use clap::{Args, Subcommand};
use fixtures::{checkpoints, histories, tokens};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum Corpus {
    /// Conversations in two lists, an edited message, and what stays of both.
    History(History),
    /// Checkpoints, a message, and which of them is restored when that message is edited.
    Checkpoints(Plain),
    /// Tokens, and the cloud to which each belongs.
    Tokens(Plain),
}

/// How a corpus is told.
#[derive(Debug, Args)]
#[command(after_help = "docs/rewind-corpora.md says what the fields mean, with a test in TypeScript.")]
pub(super) struct Plain {
    /// Cases of this kind alone; may be given again.
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// How it is told.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Which conversations, and how they are told.
#[derive(Debug, Args)]
#[command(
    after_help = "Each case has both lists, the edit, how many entries of each list stay, and which usual ways to cut
get it wrong. docs/rewind-corpora.md says what the fields mean, with a test in TypeScript.

    standin corpus history --format json
    standin corpus history --kind which --kind untimed
    standin corpus history --skew 250 --format csv"
)]
pub(super) struct History {
    /// Conversations of this kind alone; may be given again.
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// How it is told.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// In place of the corpus one conversation, its two clocks apart by -2000 to 2000 ms, so many each time.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u16).range(1..=2000), conflicts_with = "kind")]
    skew: Option<u16>,
}

pub(super) fn run(corpus: &Corpus) -> Outcome {
    let (told, format) = match corpus {
        Corpus::History(History { format, skew: Some(step), .. }) => {
            (histories::told(&histories::skew::sweep(usize::from(*step))), format)
        }
        Corpus::History(History { format, kind, .. }) => (histories::told(&cases_of(kind)?), format),
        Corpus::Checkpoints(Plain { format, kind }) => (checkpoints::told(&cases_of(kind)?), format),
        Corpus::Tokens(Plain { format, kind }) => (tokens::told(&cases_of(kind)?), format),
    };
    format.tell(&told);
    Ok(ExitCode::SUCCESS)
}
