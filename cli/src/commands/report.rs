//! `standin report`: the reports of gates, put together and shown in another format.

use super::{Failure, Outcome, read_text, writable_folder, write_text};
use clap::{Args, Subcommand, ValueEnum};
use fixtures::near_names::unknown;
use harness::gate::merge::{belong_together, merge};
use harness::gate::signals::{self, Known, held_by_recordings};
use harness::report::{Report, html, junit, markdown, terminal};
use harness::say;
use parity_specs::Matrix;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is done with reports.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Put the parts of a gate together, or the reports of several adapters side by side.
    Merge(Merge),
    /// Show a report in another format.
    Show(Show),
}

/// Which reports.
#[derive(Debug, Args)]
#[command(
    after_help = "The parts of one adapter are judged again as a whole; all of them have to be there. Reports of
several adapters become one page, side by side.

    standin gate --partition 1/2 --out part-1
    standin gate --partition 2/2 --out part-2
    standin report merge part-1/report.json part-2/report.json --out report

Exit codes: those of `standin gate` for the whole; 2 when the reports do not belong together."
)]
struct Merge {
    /// The report.json of each.
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,
    #[command(flatten)]
    beside: Beside,
    /// The folder for the reports.
    #[arg(long, value_name = "DIR", default_value = "standin-gate")]
    out: PathBuf,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Which report.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0, whatever the report says; 2 when it is no report.")]
struct Show {
    /// A report.json.
    report: PathBuf,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// What is known beside the cells.
#[derive(Debug, Args)]
pub(super) struct Beside {
    /// Signals of real use, as JSON Lines: what only they can show is evaluated.
    #[arg(long, value_name = "FILE")]
    signals: Option<PathBuf>,
    /// Another threshold for a trigger of real use, as slow-first-words=1500. Repeatable.
    #[arg(long = "threshold", value_name = "TRIGGER=N")]
    thresholds: Vec<String>,
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Text,
    /// The same as report.json.
    Json,
    /// For a CI summary.
    Markdown,
    /// For CI.
    Junit,
    /// The page.
    Html,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    match &arguments.command {
        Command::Merge(arguments) => run_merge(arguments),
        Command::Show(arguments) => {
            say::text(&render(&read(&arguments.report)?, arguments.format)?);
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn run_merge(arguments: &Merge) -> Outcome {
    let matrix = harness::matrix::embedded()?;
    let reports = arguments.reports.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let files: Vec<_> = arguments.reports.iter().map(PathBuf::as_path).zip(&reports).collect();
    belong_together(&files).map_err(Failure::Misuse)?;
    let known = arguments.beside.known(&matrix, true)?;
    writable_folder(&arguments.out, "--out")?;
    let report = merge(&matrix, reports, &known).map_err(Failure::Misuse)?;
    write(&report, &arguments.out, arguments.format)
}

/// The longest report that is read: one of all mutants in all cases, many times over.
fn read(path: &Path) -> Result<Report, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Misuse(format!("failed to read {}: {error}", path.display())))?;
    Report::read(&text).map_err(|why| Failure::Misuse(format!("{}: {why}", path.display())))
}

/// Writes a report in all formats into a folder, prints it in one, and gives its exit code.
pub(super) fn write(report: &Report, out: &Path, format: Format) -> Outcome {
    let files = [
        ("report.json", Format::Json),
        ("report.html", Format::Html),
        ("report.md", Format::Markdown),
        ("junit.xml", Format::Junit),
    ];
    for (name, format) in files {
        write_text(&out.join(name), &render(report, format)?)?;
    }
    say::text(&render(report, format)?);
    if format == Format::Text {
        say!("{}", out.join("report.html").display());
    }
    Ok(ExitCode::from(report.result().exit_code()))
}

fn render(report: &Report, format: Format) -> Result<String, Failure> {
    Ok(match format {
        Format::Text => terminal::render(report),
        Format::Json => report
            .json()
            .map_err(|error| Failure::CouldNot(format!("failed to write the report: {error}")))?,
        Format::Markdown => markdown::render_gates(report),
        Format::Junit => junit::render_gates(report),
        Format::Html => html::render(report)
            .map_err(|error| Failure::CouldNot(format!("failed to draw the page: {error:#}")))?,
    })
}

impl Beside {
    /// What is known: by the recordings, if they are asked, by the signals, and which thresholds are others than the
    /// matrix has.
    pub(super) fn known(&self, matrix: &Matrix, asks: bool) -> Result<Known, Failure> {
        let mut known = Known::default();
        let with_threshold = matrix.triggers.iter().filter(|trigger| trigger.signal.is_some());
        let names: Vec<&str> = with_threshold.map(|trigger| trigger.id.as_str()).collect();
        for word in &self.thresholds {
            let (name, number) = word.split_once('=').unwrap_or((word, ""));
            let number = number.parse().map_err(|_| {
                Failure::Misuse(format!("--threshold {word}: write it as TRIGGER=N, a whole number"))
            })?;
            if !names.contains(&name) {
                return Err(Failure::Misuse(unknown("trigger with a threshold", name, &names)));
            }
            known.thresholds.insert(name.to_owned(), number);
        }
        if let Some(path) = &self.signals {
            known.signals = signals::read(path, &read_text(path)?)?;
        }
        // Last, for it takes longest: a slip in the command line is told at once.
        known.holds = asks.then(held_by_recordings).transpose()?;
        Ok(known)
    }
}
