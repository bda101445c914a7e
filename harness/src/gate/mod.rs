//! A phase gate: the reference adapter through the matrix, the mutants through the same cases, and the ledger.
//!
//! The gate holds when every requirement of the phase is proven or owed, nothing owed is proven, every mutant is
//! caught where a fault acts, and passes where none does.

mod toothless;
mod triggers;

use crate::cells::{self, Finished};
use crate::clock::Limits;
use crate::judge::Verdict;
use crate::mutants;
use crate::report::{Cell, GateReport, GateResult, MutantRow, Proof, RequirementRow, RequirementState};
use crate::runner;
use crate::subject::Subject;
use fixtures::ServerKind;
use fixtures::recording::Recording;
use parity_specs::{Matrix, NamedCase, Phase};
use std::path::Path;

/// How many cells run at once. Most of a cell's time is waiting.
const CELLS_AT_ONCE: usize = 12;
/// Broken clients mostly wait for what does not come, until somebody loses patience.
const BROKEN_AT_ONCE: usize = 40;

/// Runs and judges one cell.
pub async fn run_cell(named: &NamedCase, server: ServerKind, subject: &Subject, limits: &Limits) -> Finished {
    let cell = cells::unjudged(named, server, subject.name(), &subject.flag());
    cells::judged(cell, runner::run(named, server, subject, limits).await)
}

/// A case with a server and a subject, not run yet.
type Plan<'a> = (&'a NamedCase, ServerKind, &'a Subject);

/// Runs cases with one subject, several at once; the order of the result is that of the cases.
pub async fn run_cases(
    cases: &[NamedCase],
    subject: &Subject,
    limits: &Limits,
    seen: impl Fn(&Cell),
) -> Vec<Finished> {
    run_plans(cells_of(cases, subject), CELLS_AT_ONCE, limits, seen).await
}

/// Runs cells, several at once, whoever they belong to; the order of the result is that of the plans.
async fn run_plans(
    plans: Vec<Plan<'_>>,
    at_once: usize,
    limits: &Limits,
    seen: impl Fn(&Cell),
) -> Vec<Finished> {
    let run = |(named, server, subject)| run_cell(named, server, subject, limits);
    cells::run(plans.into_iter().map(run), at_once, seen).await
}

fn cells_of<'a>(cases: &'a [NamedCase], subject: &'a Subject) -> Vec<Plan<'a>> {
    let of = |named: &'a NamedCase| named.case.servers.iter().map(move |server| (named, *server, subject));
    cases.iter().flat_map(of).collect()
}

/// Which cells a mutant is run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The cases that say that they catch it, and one plain case.
    Claimed,
    /// All of them.
    All,
}

fn cells_of_mutant<'a>(cases: &'a [NamedCase], subject: &'a Subject, reach: Reach) -> Vec<Plan<'a>> {
    let name = subject.name();
    let all = cells_of(cases, subject);
    if reach == Reach::All {
        return all;
    }
    let plain = all.iter().rfind(|(named, ..)| named.case.plain).copied();
    let claimed = all.into_iter().filter(|(named, ..)| named.case.catches.contains(&name));
    claimed.chain(plain).collect()
}

fn subjects() -> Vec<Subject> {
    mutants::all().iter().map(|mutant| Subject::Mutant(mutant.name.to_owned())).collect()
}

/// The gate of a phase. `seen` is told each cell as it is done, `keep` gets the histories.
pub async fn run_gate(
    matrix: &Matrix,
    phase: &Phase,
    reach: Reach,
    limits: &Limits,
    seen: impl Fn(&Cell),
    mut keep: impl FnMut(&Cell, &Recording),
) -> GateReport {
    let cases: Vec<NamedCase> =
        matrix.cases.iter().filter(|named| belongs_to(matrix, named, phase)).cloned().collect();
    let subjects = subjects();
    let reference = Subject::Reference;
    let own = cells_of(&cases, &reference);
    let of_mutants: Vec<Vec<Plan<'_>>> =
        subjects.iter().map(|subject| cells_of_mutant(&cases, subject, reach)).collect();
    let counts: Vec<usize> = of_mutants.iter().map(Vec::len).collect();
    let mut cells = Vec::new();
    for finished in run_plans(own, CELLS_AT_ONCE, limits, &seen).await {
        if let Some(history) = &finished.history {
            keep(&finished.cell, history);
        }
        cells.push(finished.cell);
    }
    let plans = of_mutants.into_iter().flatten().collect();
    let mut runs = run_plans(plans, BROKEN_AT_ONCE, limits, &seen).await.into_iter();
    let mut rows = Vec::new();
    for (mutant, count) in mutants::all().into_iter().zip(counts) {
        let cells = runs.by_ref().take(count).map(|finished| finished.cell).collect();
        rows.push(MutantRow { name: mutant.name.to_owned(), about: mutant.about.to_owned(), cells });
    }
    judge_gate(matrix, phase, &cases, cells, rows)
}

/// How many cells a gate runs.
#[must_use]
pub fn count_cells(matrix: &Matrix, phase: &Phase, reach: Reach) -> usize {
    let cases: Vec<NamedCase> =
        matrix.cases.iter().filter(|named| belongs_to(matrix, named, phase)).cloned().collect();
    let of_mutants =
        subjects().iter().map(|subject| cells_of_mutant(&cases, subject, reach).len()).sum::<usize>();
    cells_of(&cases, &Subject::Reference).len() + of_mutants
}

fn belongs_to(matrix: &Matrix, named: &NamedCase, phase: &Phase) -> bool {
    let requirements = named.case.proves.iter().filter_map(|id| matrix.requirements.get(id));
    requirements.into_iter().any(|requirement| requirement.phase <= phase.number)
}

fn judge_gate(
    matrix: &Matrix,
    phase: &Phase,
    cases: &[NamedCase],
    cells: Vec<Cell>,
    mutants: Vec<MutantRow>,
) -> GateReport {
    let requirements: Vec<RequirementRow> = matrix
        .requirements
        .values()
        .filter(|requirement| requirement.phase <= phase.number)
        .map(|requirement| {
            let proofs: Vec<Proof> = cells
                .iter()
                .filter(|cell| matrix.cases_for(&requirement.id).any(|named| named.name == cell.case))
                .map(|cell| proof(cell, requirement.check.as_deref()))
                .collect();
            let owed = matrix.debts.iter().find(|debt| debt.requirement == requirement.id);
            let proven = !proofs.is_empty() && proofs.iter().all(|proof| proof.verdict == Verdict::Pass);
            let degraded = triggers::degraded(requirement, phase, &proofs, &cells);
            let state = match (proven, owed) {
                (true, None) if degraded.is_some() => RequirementState::Degraded,
                (true, None) => RequirementState::Proven,
                (false, Some(_)) if proofs.is_empty() => RequirementState::Owed,
                (true, Some(_)) => RequirementState::OwedButProven,
                (false, _) if proofs.is_empty() => RequirementState::Missing,
                (false, _) => RequirementState::Failing,
            };
            RequirementRow {
                id: requirement.id.clone(),
                about: requirement.about.clone(),
                source: requirement.source.clone(),
                state,
                cases: proofs,
                reason: owed.map(|debt| debt.reason.clone()).or(degraded),
            }
        })
        .collect();
    let toothless = toothless::find(matrix, cases, &mutants);
    let triggers = triggers::fired(matrix, &cells);
    let result = if triggers.is_empty() {
        result(&requirements, &cells, &mutants, &toothless)
    } else {
        GateResult::Fail
    };
    GateReport {
        format: 1,
        by: concat!("standin ", env!("CARGO_PKG_VERSION")).to_owned(),
        phase: phase.number,
        phase_name: phase.name.clone(),
        result,
        requirements,
        cells,
        mutants,
        triggers,
        toothless,
    }
}

/// What a cell says of a requirement that `check` shows. A check that saw nothing has shown nothing.
fn proof(cell: &Cell, check: Option<&str>) -> Proof {
    let judged = cell.checks.iter().find(|judged| Some(judged.check) == check).map(|judged| judged.verdict);
    let shown = judged.filter(|shown| *shown != Verdict::NotApplicable).unwrap_or(Verdict::Untestable);
    Proof { case: cell.case.clone(), server: cell.server, verdict: shown.max(cell.verdict) }
}

fn result(
    requirements: &[RequirementRow],
    cells: &[Cell],
    mutants: &[MutantRow],
    toothless: &[String],
) -> GateResult {
    let worst = cells.iter().map(|cell| cell.verdict).max().unwrap_or(Verdict::Untestable);
    let harness_failed =
        mutants.iter().flat_map(|mutant| &mutant.cells).any(|c| c.verdict == Verdict::HarnessError);
    let is = |state: RequirementState| requirements.iter().filter(move |row| row.state == state).count();
    let broken = is(RequirementState::Missing) + is(RequirementState::OwedButProven);
    match worst {
        Verdict::Fail | Verdict::Unsupported => GateResult::Fail,
        Verdict::NotApplicable | Verdict::Unknown | Verdict::Untestable | Verdict::HarnessError => {
            GateResult::CouldNotCheck
        }
        Verdict::Pass if harness_failed => GateResult::CouldNotCheck,
        Verdict::Pass if broken > 0 || !toothless.is_empty() || is(RequirementState::Failing) > 0 => {
            GateResult::Fail
        }
        Verdict::Pass => match is(RequirementState::Owed) {
            0 => GateResult::Pass,
            owed => GateResult::PassWithDebt(owed),
        },
    }
}

/// Where a cell's history is kept in a folder of histories.
#[must_use]
pub fn history_path(folder: &Path, cell: &Cell) -> std::path::PathBuf {
    folder.join(format!("{}.{}.{}.jsonl", cell.case, cell.server, cell.adapter.replace('/', "-")))
}

#[cfg(test)]
mod tests;
