//! `standin gate`: a phase gate with the embedded stand-in and the reference adapter; reports for people and CI.

use super::{Failure, Outcome, runtime, write_history, write_text};
use clap::{Args, ValueEnum};
use harness::clock::Limits;
use harness::gate::{count_cells, history_path, run_gate};
use harness::report::{html, terminal};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::process::ExitCode;

/// Which gate, and where its reports go.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The phase; the last one of the matrix when absent.
    #[arg(long)]
    phase: Option<u32>,
    /// The folder for report.json, report.html and the histories.
    #[arg(long, value_name = "DIR", default_value = "standin-gate")]
    out: PathBuf,
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
        Failure::Misuse(format!("there is no such phase; there are: {}", numbers.join(", ")))
    })?;
    let bar = ProgressBar::new(u64::try_from(count_cells(&matrix, phase)).unwrap_or(0));
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let mut kept = Vec::new();
    let folder = arguments.out.join("histories");
    let report = runtime()?.block_on(run_gate(
        &matrix,
        phase,
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
            print!("{}", terminal::render(&report));
            println!("{}", arguments.out.join("report.html").display());
        }
        Format::Json => print!("{json}"),
    }
    Ok(ExitCode::from(report.result.exit_code()))
}
