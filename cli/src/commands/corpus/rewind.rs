//! `standin corpus history|checkpoints|tokens`: the corpora about an edited message and about a cloud's token.

use crate::commands::{Failure, Outcome};
use clap::{Args, Subcommand, ValueEnum};
use fixtures::corpus::all;
use fixtures::error::FileError;
use fixtures::told_corpus::Told;
use fixtures::{checkpoints, histories, tokens};
use harness::say;
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
    standin corpus history --skew 250 --format csv"
)]
pub(super) struct History {
    /// How it is told.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// In place of the corpus one conversation, its two clocks apart by -2000 to 2000 ms, so many each time.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u16).range(1..=2000))]
    skew: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: a line a case.
    Text,
    /// For programs.
    Json,
    /// For tables: a line a case; lists are JSON.
    Csv,
}

pub(super) fn run(corpus: &Corpus) -> Outcome {
    let broken = |error: FileError| Failure::CouldNot(error.to_string());
    let (told, format) = match corpus {
        Corpus::History(History { format, skew: Some(step) }) => {
            (histories::told(&histories::skew::sweep(usize::from(*step))), format)
        }
        Corpus::History(History { format, skew: None }) => (histories::told(&all().map_err(broken)?), format),
        Corpus::Checkpoints(Plain { format }) => (checkpoints::told(&all().map_err(broken)?), format),
        Corpus::Tokens(Plain { format }) => (tokens::told(&all().map_err(broken)?), format),
    };
    tell(&told, *format);
    Ok(ExitCode::SUCCESS)
}

fn tell(told: &Told, format: Format) {
    match format {
        Format::Text => say!("{}", told.text().trim_end()),
        Format::Json => say!("{:#}", told.json),
        Format::Csv => say!("{}", told.csv().trim_end()),
    }
}
