//! `cargo xtask mutants`: every broken client in every case, as a table of mutants and checks. Takes minutes; the gate
//! runs each of them only in the cases that say that they catch it.

use crate::outcome::Outcome;
use harness::checks;
use harness::clock::Limits;
use harness::gate::{Reach, count_cells, run_gate};
use harness::judge::Verdict;
use harness::report::{GateReport, GateResult, MutantRow};
use harness::say;
use std::collections::BTreeSet;

pub(crate) fn run() -> Outcome {
    let matrix = match harness::matrix::embedded() {
        Ok(matrix) => matrix,
        Err(error) => return Outcome::Fails(error.to_string()),
    };
    let Some(phase) = matrix.phases.last() else {
        return Outcome::Untestable("the matrix has no phase".to_owned());
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return Outcome::Untestable(format!("no runtime: {error}")),
    };
    say!("{} cells", count_cells(&matrix, phase, Reach::All));
    let report =
        runtime.block_on(run_gate(&matrix, phase, Reach::All, &Limits::default(), |_| {}, |_, _| {}));
    say::text(&table(&report));
    let alone = alone(&report);
    let dependent: Vec<&str> =
        checks::all().iter().map(|check| check.name).filter(|name| !alone.contains(name)).collect();
    report.toothless.iter().for_each(|line| say!("✗ {line}"));
    if !dependent.is_empty() {
        say!("✗ in no cell the only red check: {}", dependent.join(", "));
    }
    match report.result {
        GateResult::Pass | GateResult::PassWithDebt(_) if dependent.is_empty() => Outcome::Holds,
        GateResult::CouldNotCheck => Outcome::Untestable("some cells could not be checked".to_owned()),
        _ => Outcome::Fails(format!("the reference: {}; see above", report.result)),
    }
}

/// In how many cases a check is red, for each mutant.
fn table(report: &GateReport) -> String {
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
fn alone(report: &GateReport) -> BTreeSet<&'static str> {
    let cells = report.mutants.iter().flat_map(|row| &row.cells);
    cells
        .filter_map(|cell| {
            let mut red = cell.checks.iter().filter(|judged| judged.verdict == Verdict::Fail);
            red.next().filter(|_| red.next().is_none()).map(|judged| judged.check)
        })
        .collect()
}
