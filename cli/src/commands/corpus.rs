//! `standin corpus`: the corpora, for tests in any language; a file beside this one for each.

mod commands;
mod csp;
mod errors;
mod paths;
mod rewind;

use super::Outcome;
use clap::{Args, Subcommand, ValueEnum};
use fixtures::corpus::{self, Entry};
use fixtures::error::FileError;
use fixtures::told_corpus::Told;
use harness::say;
use serde_json::Value;

/// Which corpus.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    corpus: Corpus,
}

#[derive(Debug, Subcommand)]
enum Corpus {
    /// Paths that lead out of a workspace, and such as don't, with the verdict of each policy.
    Paths(paths::Paths),
    /// Lines for a shell, with the verdict of each policy of an allow-list.
    Commands(commands::Commands),
    /// Policies of a webview (Content-Security-Policy), with the verdict of each rule.
    Csp(csp::Csp),
    /// Errors that a program meets that talks to a model: what each is about, and whether to try again.
    Errors(errors::Errors),
    #[command(flatten)]
    Rewind(rewind::Corpus),
}

/// How a corpus is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: a line a case.
    Text,
    /// For programs.
    Json,
    /// For tables: a line for each case, and for each policy of it. What is no plain word is JSON in it.
    Csv,
}

impl Format {
    fn tell(self, told: &Told) {
        self.say(|| told.text(), || told.json.clone(), || told.csv());
    }

    fn say(self, text: impl FnOnce() -> String, json: impl FnOnce() -> Value, csv: impl FnOnce() -> String) {
        match self {
            Self::Text => say!("{}", text().trim_end()),
            Self::Json => say!("{:#}", json()),
            Self::Csv => say!("{}", csv().trim_end()),
        }
    }
}

/// The cases of the kinds that are asked for; all of them when none is named.
fn cases_of<C: Entry>(kinds: &[String]) -> Result<Vec<C>, FileError> {
    if kinds.is_empty() {
        return corpus::all();
    }
    let mut cases = Vec::new();
    for kind in kinds {
        cases.extend(corpus::of(kind)?);
    }
    Ok(cases)
}

/// What is asked for among a few words; all of them when none is named.
fn named_or<T: Copy + PartialEq, const N: usize>(named: impl Iterator<Item = T>, all: [T; N]) -> Vec<T> {
    let named: Vec<T> = named.collect();
    all.into_iter().filter(|word| named.is_empty() || named.contains(word)).collect()
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    match &arguments.corpus {
        Corpus::Paths(arguments) => paths::run(arguments),
        Corpus::Commands(arguments) => commands::run(arguments),
        Corpus::Csp(arguments) => csp::run(arguments),
        Corpus::Errors(arguments) => errors::run(arguments),
        Corpus::Rewind(corpus) => rewind::run(corpus),
    }
}
