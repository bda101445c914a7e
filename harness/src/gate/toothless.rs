//! What does not bite: a mutant that nothing catches or that everything hits, a case or a check that catches nobody.

use crate::checks;
use crate::judge::Verdict;
use crate::report::{Cell, MutantRow};
use parity_specs::{Matrix, NamedCase};

/// Everything that proves nothing, in words.
pub(super) fn find(matrix: &Matrix, cases: &[NamedCase], mutants: &[MutantRow]) -> Vec<String> {
    let mut found = Vec::new();
    for mutant in mutants {
        for cell in mutant.cells.iter().filter(|cell| cell.plain && cell.verdict != Verdict::Pass) {
            let (name, case) = (&mutant.name, &cell.case);
            found.push(format!(
                "the mutant {name} is {} in the plain case {case} ({}): it is no mutant but a wreck",
                cell.verdict, cell.server
            ));
        }
        if !matrix.cases.iter().any(|named| named.case.catches.contains(&mutant.name)) {
            found.push(format!("no case says that it catches the mutant {}: add one", mutant.name));
        }
    }
    for named in cases.iter().filter(|named| !named.case.plain) {
        if named.case.catches.is_empty() {
            found.push(format!("the case {} catches no mutant: it does not count", named.name));
        }
        for name in &named.case.catches {
            let cells = mutants.iter().filter(|mutant| mutant.name == *name).flat_map(|mutant| &mutant.cells);
            for cell in cells.filter(|cell| cell.case == named.name) {
                if !is_caught(matrix, named, cell) {
                    found.push(format!(
                        "the case {} ({}) does not catch {name} by a check of what it proves: {}",
                        named.name,
                        cell.server,
                        red(cell)
                    ));
                }
            }
        }
    }
    for check in checks::all() {
        let bites = cases.iter().any(|named| {
            let proves = proved_by(matrix, named).any(|name| name == check.name);
            let mut cells =
                mutants.iter().flat_map(|mutant| &mutant.cells).filter(|cell| cell.case == named.name);
            proves && cells.any(|cell| is_red(cell, check.name))
        });
        let is_asked_for = cases.iter().any(|named| proved_by(matrix, named).any(|name| name == check.name));
        if is_asked_for && !bites {
            found
                .push(format!("the check {} catches no mutant: add one that it alone can catch", check.name));
        }
    }
    found
}

/// The checks of what a case proves.
fn proved_by<'a>(matrix: &'a Matrix, named: &'a NamedCase) -> impl Iterator<Item = &'a str> {
    named.case.proves.iter().filter_map(|id| matrix.requirements.get(id)?.check.as_deref())
}

fn is_red(cell: &Cell, check: &str) -> bool {
    cell.checks.iter().any(|judged| judged.check == check && judged.verdict == Verdict::Fail)
}

/// It fails for the right reason.
fn is_caught(matrix: &Matrix, named: &NamedCase, cell: &Cell) -> bool {
    proved_by(matrix, named).any(|check| is_red(cell, check))
}

/// What it fails for.
fn red(cell: &Cell) -> String {
    let checks =
        cell.checks.iter().filter(|judged| judged.verdict == Verdict::Fail).map(|judged| judged.check);
    let red: Vec<&str> = checks.collect();
    let troubles = cell.troubles.first().map(|trouble| format!("; {trouble}")).unwrap_or_default();
    format!("it is {}, red is [{}]{troubles}", cell.verdict, red.join(", "))
}
