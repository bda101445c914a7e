//! `standin drift OLD NEW`: what a release changes for clients of another one.

use super::{COULD_NOT_CHECK, FAILS, Failure, Outcome, words, write_text};
use clap::{Args, ValueEnum};
use harness::say;
use recorder::drift::{self, Severity, Shown, Verdict};
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// What is compared, and how it is told.
#[derive(Debug, Args)]
#[command(
    after_help = "OLD and NEW are two recordings (.jsonl), two /doc documents (.json), two folders of a release as
standin record makes them, or two releases that standin carries:

    standin drift kilo-7.0.33 kilo-7.7.7
    standin drift old/doc.json new/doc.json --format markdown --out drift.md
    standin drift kilo-7.7.7 standin-recordings/kilo-7.8.1

Breaking is what a client that was right with OLD can be wrong about with NEW; additive is what it has to
survive and may ignore; cosmetic are words and names.

Exit codes: 0 nothing breaks, 1 something does, 2 misuse, 3 nothing was found to break, but not everything
could be checked: a recording has no partner, a scenario has changed, a stream broke, too few paths were
compared."
)]
pub(crate) struct Arguments {
    /// The release that clients know: a file, a folder, or the name of a release.
    #[arg(value_parser = words::some_text())]
    old: String,
    /// The release that they will meet.
    #[arg(value_parser = words::some_text())]
    new: String,
    /// Which differences end in exit code 1.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = FailOn::Breaking)]
    fail_on: FailOn,
    /// With fewer compared paths nothing is proven, and the exit code is 3.
    #[arg(long, value_name = "N", default_value_t = drift::MIN_PATHS, value_parser = words::count, allow_negative_numbers = true)]
    min_paths: usize,
    /// Every difference, and not only the first of each kind; JSON always has every one.
    #[arg(long)]
    all: bool,
    /// How it is told.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write the report here, and print nothing.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// What breaks clients.
    Breaking,
    /// That, and what is new.
    Additive,
    /// Any difference, words among them.
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For pages.
    Markdown,
    /// For programs.
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let pair = drift::read(&arguments.old, &arguments.new).map_err(Failure::Misuse)?;
    let report = drift::drift(&pair, arguments.min_paths);
    let fail_on = match arguments.fail_on {
        FailOn::Breaking => Severity::Breaking,
        FailOn::Additive => Severity::Additive,
        FailOn::Any => Severity::Cosmetic,
    };
    let colours = arguments.out.is_none() && std::io::stdout().is_terminal();
    let shown = Shown { fail_on, all: arguments.all, colours };
    let told = match arguments.format {
        Format::Text => drift::text(&report, shown),
        Format::Markdown => drift::markdown(&report, shown),
        Format::Json => format!("{:#}", drift::json(&report, fail_on)),
    };
    match &arguments.out {
        Some(path) => write_text(path, &format!("{}\n", told.trim_end()))?,
        None => say!("{}", told.trim_end()),
    }
    Ok(ExitCode::from(match report.verdict(fail_on) {
        Verdict::Holds => 0,
        Verdict::Drifts => FAILS,
        Verdict::CouldNotCheck => COULD_NOT_CHECK,
    }))
}
