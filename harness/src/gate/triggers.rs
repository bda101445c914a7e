//! What the plan goes back for, whatever the phase; and what it accepts for a while.

use crate::judge::{Judged, Verdict};
use crate::report::{Cell, Fired, Proof};
use parity_specs::{Matrix, Phase, Requirement};

/// The triggers that these cells fire.
pub(super) fn fired(matrix: &Matrix, cells: &[Cell]) -> Vec<Fired> {
    let fires = |cell: &&Cell, check: &str| {
        cell.checks.iter().any(|judged| judged.check == check && judged.verdict == Verdict::Fail)
    };
    let of = |trigger: &parity_specs::Trigger| {
        let guilty = cells.iter().filter(|cell| fires(cell, &trigger.check));
        Fired {
            id: trigger.id.clone(),
            about: trigger.about.clone(),
            then: trigger.then.clone(),
            cells: guilty.map(|cell| format!("{} ({})", cell.case, cell.server)).collect(),
        }
    };
    matrix.triggers.iter().map(of).filter(|fired| !fired.cells.is_empty()).collect()
}

/// By which decision a requirement holds in this phase, and what it is that does.
pub(super) fn degraded(
    requirement: &Requirement,
    phase: &Phase,
    proofs: &[Proof],
    cells: &[Cell],
) -> Option<String> {
    let by = requirement.degraded.as_ref().filter(|degraded| phase.number < degraded.until)?;
    let proves =
        |cell: &&Cell| proofs.iter().any(|proof| proof.case == cell.case && proof.server == cell.server);
    let is_its = |judged: &&Judged| Some(judged.check) == requirement.check.as_deref();
    let checks = cells.iter().filter(proves).flat_map(|cell| cell.checks.iter().filter(is_its));
    let what: Vec<&str> = checks.flat_map(|judged| judged.degraded.iter().map(String::as_str)).collect();
    (!what.is_empty()).then(|| format!("degraded ({}): {}", by.by, what.join("; ")))
}
