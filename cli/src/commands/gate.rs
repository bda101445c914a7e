//! `standin gate`: a phase gate with the embedded stand-in and the reference adapter; reports for people and CI.

use super::{Failure, Outcome, runtime, words, writable_folder, write_history, write_text};
use clap::{Args, ValueEnum};
use harness::clock::Limits;
use harness::gate::{Reach, count_cells, history_path, run_gate};
use harness::report::{html, terminal};
use harness::say;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::process::ExitCode;

/// Which gate, and where its reports go.
#[derive(Debug, Args)]
#[command(
    after_help = "All cases of the phase are run with the reference adapter, which must pass, and with its
mutants, which must be caught. What nothing proves must stand in the ledger of debt:

    standin gate
    standin gate --phase 2 --out report --format json

DIR then holds report.json, report.html and histories/, which `standin judge` judges again.
Exit codes: 0 the gate holds, 1 it does not, 2 misuse, a folder that can't be written among it, 3 something
could not be checked."
)]
pub(crate) struct Arguments {
    /// The phase; the last one of the matrix when absent.
    #[arg(long, value_parser = words::phase, allow_negative_numbers = true)]
    phase: Option<u32>,
    /// The folder for report.json, report.html and the histories.
    #[arg(long, value_name = "DIR", default_value = "standin-gate")]
    out: PathBuf,
    /// Run each mutant in every case, not only in those that say that they catch it. Takes minutes.
    #[arg(long)]
    all_mutants: bool,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// The same as report.json.
    Json,
}

/// Runs the gate.
pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let matrix = harness::matrix::embedded()?;
    let numbers: Vec<String> = matrix.phases.iter().map(|phase| phase.number.to_string()).collect();
    let wanted = arguments.phase.or_else(|| matrix.phases.last().map(|phase| phase.number));
    let phase = matrix.phases.iter().find(|phase| Some(phase.number) == wanted);
    let phase = phase.ok_or_else(|| {
        let asked = wanted.unwrap_or_default();
        Failure::Misuse(format!("there is no phase {asked}; there are: {}", numbers.join(", ")))
    })?;
    writable_folder(&arguments.out, "--out")?;
    let reach = if arguments.all_mutants { Reach::All } else { Reach::Claimed };
    let bar = ProgressBar::new(u64::try_from(count_cells(&matrix, phase, reach)).unwrap_or(0));
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let mut kept = Vec::new();
    let folder = arguments.out.join("histories");
    let report = runtime()?.block_on(run_gate(
        &matrix,
        phase,
        reach,
        &Limits::default(),
        |cell| {
            bar.set_message(format!("{} {} ({})", cell.adapter, cell.case, cell.server));
            bar.inc(1);
        },
        |cell, history| kept.push((history_path(&folder, cell), history.clone())),
    ));
    bar.finish_and_clear();
    for (path, history) in &kept {
        write_history(history, path)?;
    }
    let json =
        report.json().map_err(|error| Failure::CouldNot(format!("failed to write the report: {error}")))?;
    let page = html::render(&report)
        .map_err(|error| Failure::CouldNot(format!("failed to draw the page: {error:#}")))?;
    write_text(&arguments.out.join("report.json"), &json)?;
    write_text(&arguments.out.join("report.html"), &page)?;
    match arguments.format {
        Format::Text => {
            say::text(&terminal::render(&report));
            say!("{}", arguments.out.join("report.html").display());
        }
        Format::Json => say::text(&json),
    }
    Ok(ExitCode::from(report.result.exit_code()))
}
