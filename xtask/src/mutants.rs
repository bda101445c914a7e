//! `cargo xtask mutants`: every broken client in every case, as a table of mutants and checks. Takes minutes; the gate
//! runs each of them only in the cases that say that they catch it.

use crate::outcome::Outcome;
use harness::checks;
use harness::clock::Limits;
use harness::gate::judging::judge;
use harness::gate::signals::{Known, held_by_recordings};
use harness::gate::{Asked, Reach, cases_of, count_cells, run_gate};
use harness::judge::Verdict;
use harness::report::{Gate, GateResult, MutantRow};
use harness::say;
use harness::subject::Subject;
use indicatif::ProgressBar;
use std::collections::BTreeSet;

pub(crate) fn run() -> Outcome {
    let matrix = match harness::matrix::embedded() {
        Ok(matrix) => matrix,
        Err(error) => return Outcome::Fails(error.to_string()),
    };
    let known = match held_by_recordings() {
        Ok(holds) => Known { holds: Some(holds), ..Known::default() },
        Err(error) => return Outcome::Fails(error.to_string()),
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return Outcome::Untestable(format!("no runtime: {error}")),
    };
    let (phases, subject) = (&matrix.phases, &Subject::Reference);
    let cases = cases_of(&matrix, phases);
    let asked = Asked { phases, subject, reach: Some(Reach::All), cases: &cases };
    let bar = ProgressBar::new(u64::try_from(count_cells(&asked)).unwrap_or(0));
    let ran = runtime.block_on(run_gate(&asked, &Limits::default(), |_| bar.inc(1), |_, _| {}));
    bar.finish_and_clear();
    let report = judge(&matrix, phases, ran, &known);
    say::text(&table(&report));
    let alone = alone(&report);
    let dependent: Vec<&str> =
        checks::all().iter().map(|check| check.name).filter(|name| !alone.contains(name)).collect();
    report.toothless.iter().for_each(|line| say!("✗ {line}"));
    if !dependent.is_empty() {
        say!("✗ in no cell the only red check: {}", dependent.join(", "));
    }
    match report.result() {
        GateResult::Pass | GateResult::PassWithDebt(_) if dependent.is_empty() => Outcome::Holds,
        GateResult::CouldNotCheck => Outcome::Untestable("some cells could not be checked".to_owned()),
        _ => Outcome::Fails(format!("the reference: {}; see above", report.result())),
    }
}

/// In how many cases a check is red, for each mutant.
fn table(report: &Gate) -> String {
    let mut text = String::new();
    for row in &report.mutants {
        let red: Vec<String> = checks::all()
            .iter()
            .map(|check| (check.name, cases(row, check.name)))
            .filter(|(_, cases)| *cases > 0)
            .map(|(name, cases)| format!("{name} {cases}"))
            .collect();
        text += &format!("{:24} {}\n", row.name, red.join(", "));
    }
    text
}

fn cases(row: &MutantRow, check: &str) -> usize {
    let is_red = |judged: &harness::judge::Judged| judged.check == check && judged.verdict == Verdict::Fail;
    let red = row.cells.iter().filter(|cell| cell.checks.iter().any(is_red));
    red.map(|cell| &cell.case).collect::<BTreeSet<_>>().len()
}

/// The checks that some mutant turns red alone, in some case.
fn alone(report: &Gate) -> BTreeSet<&'static str> {
    let cells = report.mutants.iter().flat_map(|row| &row.cells);
    cells
        .filter_map(|cell| {
            let mut red = cell.checks.iter().filter(|judged| judged.verdict == Verdict::Fail);
            red.next().filter(|_| red.next().is_none()).map(|judged| judged.check)
        })
        .collect()
}
