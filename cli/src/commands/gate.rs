//! `standin gate`: phase gates with the embedded stand-in, for the reference adapter and its mutants or for any other
//! adapter; reports for people and CI.

use super::report::{Beside, Format, write};
use super::select::{Partition, select};
use super::{Failure, Outcome, kit, runtime, subject, words, writable_folder, write_history};
use clap::Args;
use harness::clock::Limits;
use harness::gate::judging::{Ran, judge};
use harness::gate::{Asked, Reach, cases_of, count_cells, history_path, run_gate};
use harness::report::{Cell, Report};
use harness::subject::Subject;
use indicatif::{ProgressBar, ProgressStyle};
use parity_specs::{Matrix, Phase};
use std::cell::RefCell;
use std::path::PathBuf;

/// Which gates, for whom, and where the reports go.
#[derive(Debug, Args)]
#[command(
    after_help = "All cases of the phases are run with the adapter, and each phase is judged: what the plan asks for
by then is proven, owed in the ledger, or missing as the plan allows. The adapter is the reference unless you
name yours (docs/adapters.md); the reference's mutants are run, too, and must be caught.

    standin gate
    standin gate --phase 2 --adapter 'node my-adapter.js' --out report
    standin gate --adapter 'node my-adapter.js' --partition 1/4 --out part-1     (see `standin help report`)
    standin gate --signals exported.jsonl --threshold slow-first-words=1500

With the reference the kits are run, too (see `standin help kit`). What only real use can show is not
evaluated, unless you give an export of the kilo.cli.* signals, one a line:

    {\"name\": \"kilo.cli.chat.ttft_ms\", \"value\": 740, \"at_ms\": 1700000000000}

DIR then holds report.json, report.html, report.md, junit.xml and histories/, which `standin judge` judges
again. Exit codes: 0 the gates hold (with debt, too), 1 one does not, 2 misuse, a folder that can't be written
among it, 3 something could not be checked."
)]
pub(crate) struct Arguments {
    /// One phase, or all.
    #[arg(long, value_name = "N|all", default_value = "all", value_parser = words::phases, allow_negative_numbers = true)]
    phase: words::Phases,
    /// A program that speaks the adapter protocol, with its arguments, separated by spaces.
    #[arg(long, value_name = "COMMAND")]
    adapter: Option<String>,
    /// A mutant of the reference adapter, by its name.
    #[arg(long, conflicts_with = "adapter")]
    mutant: Option<String>,
    /// Only a part of the cells, as 2/3; `standin report merge` puts the parts together.
    #[arg(long, value_name = "K/N", value_parser = Partition::parse)]
    partition: Option<Partition>,
    #[command(flatten)]
    beside: Beside,
    /// The folder for the reports and the histories.
    #[arg(long, value_name = "DIR", default_value = "standin-gate")]
    out: PathBuf,
    /// Run each mutant in every case, not only in those that say that they catch it. Takes minutes.
    #[arg(long, conflicts_with_all = ["adapter", "mutant"])]
    all_mutants: bool,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Runs the gate.
pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let matrix = harness::matrix::embedded()?;
    let phases = phases(&matrix, arguments.phase)?;
    let subject = subject::named(arguments.adapter.as_deref(), arguments.mutant.as_deref())?;
    writable_folder(&arguments.out, "--out")?;
    if let Some(code) = subject::refused(&subject)? {
        return Ok(code);
    }
    // A part is judged by its cells alone; the whole asks the recordings.
    let known = arguments.beside.known(&matrix, arguments.partition.is_none())?;
    let cases = select(&cases_of(&matrix, &phases), &[], None, arguments.partition)?;
    let reach = match subject {
        Subject::Reference if arguments.all_mutants => Some(Reach::All),
        Subject::Reference => Some(Reach::Claimed),
        Subject::Mutant(_) | Subject::Program { .. } => None,
    };
    let asked = Asked { phases: &phases, subject: &subject, reach, cases: &cases };
    let bar = ProgressBar::new(u64::try_from(count_cells(&asked)).unwrap_or(0));
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let kept = RefCell::new(Vec::new());
    let folder = arguments.out.join("histories");
    let seen = |cell: &Cell| {
        bar.set_message(format!("{} {} ({})", cell.adapter, cell.case, cell.server));
        bar.inc(1);
    };
    let ran = runtime()?.block_on(run_gate(&asked, &Limits::default(), seen, |cell, history| {
        kept.borrow_mut().push((history_path(&folder, cell), history));
    }));
    let mut kept = kept.into_inner();
    // Kits have adapters of their own; they go with the reference's whole gate, or with its first part.
    let is_first = arguments.partition.is_none_or(Partition::is_first);
    let with_kits = subject == Subject::Reference && arguments.phase == words::Phases::All && is_first;
    let (kits, of_kits) = if with_kits { kit::run_all(&matrix, &bar)? } else { Default::default() };
    bar.finish_and_clear();
    let of_kits =
        of_kits.into_iter().map(|(name, history)| (folder.join(format!("kit-{name}.jsonl")), history));
    kept.extend(of_kits);
    for (path, history) in &kept {
        write_history(history, path)?;
    }
    let ran = Ran { partition: arguments.partition.map(|part| part.to_string()), ..ran };
    let report = Report::of(vec![judge(&matrix, &phases, ran, &known)]).with_kits(kits);
    write(&report, &arguments.out, arguments.format)
}

fn phases(matrix: &Matrix, wanted: words::Phases) -> Result<Vec<Phase>, Failure> {
    let wanted = match wanted {
        words::Phases::All => return Ok(matrix.phases.clone()),
        words::Phases::One(number) => number,
    };
    let numbers: Vec<String> = matrix.phases.iter().map(|phase| phase.number.to_string()).collect();
    let phase = matrix.phases.iter().find(|phase| phase.number == wanted).cloned();
    let unknown = || format!("there is no phase {wanted}; there are: {}, or all", numbers.join(", "));
    Ok(vec![phase.ok_or_else(|| Failure::Misuse(unknown()))?])
}
