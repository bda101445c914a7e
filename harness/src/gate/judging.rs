//! What the cells, the recordings and the signals of real use make of each phase. Pure: a report that was put
//! together of parts is judged again.

use super::signals::{Known, Said};
use super::{belongs_to, toothless};
use crate::checks;
use crate::judge::{Judged, Verdict};
use crate::report::{
    Cell, FeatureRow, Gate, GateResult, MutantRow, PhaseRow, Proof, RequirementRow, RequirementState,
    TriggerRow, because,
};
use parity_specs::{Evidence, Matrix, NamedCase, Phase, Requirement, Trigger};
use std::collections::{BTreeMap, BTreeSet};

/// What was run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ran {
    /// Who was judged.
    pub subject: String,
    /// Which part of the cells, if not all.
    pub partition: Option<String>,
    /// Its cells.
    pub cells: Vec<Cell>,
    /// Those of the mutants; none when somebody else than the reference is judged.
    pub mutants: Vec<MutantRow>,
    /// Was it asked which mutants are caught?
    pub with_mutants: bool,
}

/// Judges what was run by the phases that were asked for.
#[must_use]
pub fn judge(matrix: &Matrix, phases: &[Phase], ran: Ran, known: &Known) -> Gate {
    let last = phases.iter().map(|phase| phase.number).max().unwrap_or_default();
    let said = known.said(&matrix.triggers);
    let requirements: Vec<RequirementRow> = matrix
        .requirements
        .values()
        .filter(|requirement| requirement.phase <= last)
        .map(|requirement| row(matrix, phases, requirement, &ran, known, &said))
        .collect();
    let triggers: Vec<TriggerRow> = matrix
        .triggers
        .iter()
        .filter(|trigger| trigger.phase <= last)
        .map(|trigger| trigger_row(matrix, trigger, &said, &requirements, &ran.cells))
        .collect();
    let toothless = if ran.with_mutants && ran.partition.is_none() {
        let belongs = |named: &&NamedCase| phases.iter().any(|phase| belongs_to(matrix, named, phase));
        let cases: Vec<NamedCase> = matrix.cases.iter().filter(belongs).cloned().collect();
        toothless::find(matrix, &cases, &ran.mutants)
    } else {
        Vec::new()
    };
    let features: BTreeSet<&str> = requirements.iter().map(|row| row.feature.as_str()).collect();
    let feature = |name: &&str| {
        let known = matrix.features.get(*name)?;
        let (title, owner) = (known.title.clone(), known.owner.clone());
        Some(FeatureRow { name: (*name).to_owned(), title, owner })
    };
    let mut gate = Gate {
        subject: ran.subject,
        partition: ran.partition,
        phases: Vec::new(),
        features: features.iter().filter_map(feature).collect(),
        requirements,
        triggers,
        cells: ran.cells,
        mutants: ran.mutants,
        with_mutants: ran.with_mutants,
        toothless,
    };
    gate.phases = phases.iter().map(|phase| phase_row(phase, &gate)).collect();
    gate
}

fn row(
    matrix: &Matrix,
    phases: &[Phase],
    requirement: &Requirement,
    ran: &Ran,
    known: &Known,
    said: &BTreeMap<String, Said>,
) -> RequirementRow {
    let cases: BTreeSet<&str> = matrix.cases_for(&requirement.id).map(|named| named.name.as_str()).collect();
    let proofs: Vec<Proof> = ran
        .cells
        .iter()
        .filter(|cell| cases.contains(cell.case.as_str()))
        .map(|cell| proof(cell, requirement.check.as_deref()))
        .collect();
    let owed = matrix.debts.iter().find(|debt| debt.requirement == requirement.id);
    let accepted = accepted(requirement, &proofs, &ran.cells);
    let is_asked = |phase: &&Phase| requirement.phase <= phase.number;
    let state = |number: u32| match requirement.evidence {
        Evidence::Checked => {
            let asked_for = asked_for(&matrix.phases, number, &proofs);
            match asked_for.is_empty() && !proofs.is_empty() {
                // All that could show it takes what a later phase asks for.
                true => RequirementState::NotEvaluated,
                false => checked(requirement, number, &asked_for, owed.is_some(), !accepted.is_empty()),
            }
        }
        Evidence::DataOnly => match known.holds.as_ref().map(|holds| holds.contains(&requirement.id)) {
            Some(true) => proven(owed.is_some()),
            Some(false) => RequirementState::Failing,
            None => RequirementState::NotEvaluated,
        },
        Evidence::NotObservable => RequirementState::NotObservable,
        Evidence::Production => by_signals(matrix, requirement, said),
    };
    RequirementRow {
        id: requirement.id.clone(),
        about: requirement.about.clone(),
        feature: requirement.feature.clone(),
        source: requirement.claims.join("; "),
        phase: requirement.phase,
        mvp: requirement.mvp,
        evidence: requirement.evidence,
        states: phases.iter().filter(is_asked).map(|phase| (phase.number, state(phase.number))).collect(),
        cases: proofs,
        rests_on: requirement.rests_on.clone(),
        degraded: requirement.degraded.clone(),
        accepted,
        reason: owed.map(|debt| debt.reason.clone()).or(requirement.why.clone()),
    }
}

/// What of a requirement holds by a decision alone.
fn accepted(requirement: &Requirement, proofs: &[Proof], cells: &[Cell]) -> Vec<String> {
    let proves =
        |cell: &&Cell| proofs.iter().any(|proof| proof.case == cell.case && proof.server == cell.server);
    let is_its = |judged: &&Judged| Some(judged.check) == requirement.check.as_deref();
    let checks = cells.iter().filter(proves).flat_map(|cell| cell.checks.iter().filter(is_its));
    checks.flat_map(|judged| judged.degraded.iter().cloned()).collect()
}

/// What must prove a requirement in a phase: not what takes something that the plan asks for later.
fn asked_for<'a>(phases: &[Phase], phase: u32, proofs: &'a [Proof]) -> Vec<&'a Proof> {
    let comes_later =
        |word: &String| phases.iter().any(|later| later.number > phase && later.adds.contains(word));
    let is_early = |proof: &&Proof| !proof.lacks.is_empty() && proof.lacks.iter().all(comes_later);
    proofs.iter().filter(|proof| !is_early(proof)).collect()
}

fn checked(
    requirement: &Requirement,
    phase: u32,
    proofs: &[&Proof],
    owed: bool,
    accepted: bool,
) -> RequirementState {
    let may_degrade = requirement.degraded.as_ref().is_some_and(|degraded| phase <= degraded.until);
    let all = |fine: &[Verdict]| proofs.iter().all(|proof| fine.contains(&proof.verdict));
    match proofs {
        [] if owed => RequirementState::Owed,
        [] => RequirementState::Missing,
        _ if all(&[Verdict::Pass]) && accepted && may_degrade && !owed => RequirementState::Degraded,
        _ if all(&[Verdict::Pass]) => proven(owed),
        _ if may_degrade && all(&[Verdict::Pass, Verdict::Unsupported]) => RequirementState::Degraded,
        _ => RequirementState::Failing,
    }
}

fn proven(owed: bool) -> RequirementState {
    if owed { RequirementState::OwedButProven } else { RequirementState::Proven }
}

/// What signals of real use say of a requirement, by the thresholds of the triggers that watch it.
fn by_signals(matrix: &Matrix, requirement: &Requirement, said: &BTreeMap<String, Said>) -> RequirementState {
    let watching = matrix.triggers.iter().filter(|trigger| trigger.watches.contains(&requirement.id));
    let said: Vec<&Said> = watching.filter_map(|trigger| said.get(&trigger.id)).collect();
    match said.iter().any(|said| said.fired) {
        _ if said.is_empty() => RequirementState::NotEvaluated,
        true => RequirementState::Failing,
        false => RequirementState::Proven,
    }
}

/// A trigger fires where a signal is beyond its threshold, or where what it watches is seen not to hold: the recordings say
/// so, or its own check does. A case in which something else is red, or that took too long, says nothing of it.
fn trigger_row(
    matrix: &Matrix,
    trigger: &Trigger,
    said: &BTreeMap<String, Said>,
    rows: &[RequirementRow],
    cells: &[Cell],
) -> TriggerRow {
    let said = said.get(&trigger.id);
    let mut because: Vec<String> =
        said.filter(|said| said.fired).map(|said| said.words.clone()).into_iter().collect();
    let mut untold = Vec::new();
    for id in trigger.watches.iter().collect::<BTreeSet<_>>() {
        let places = red_cells(matrix, id, cells);
        if !places.is_empty() {
            because.push(because::of_cells(id, &places));
            continue;
        }
        // What a later phase alone asks for has no row: it is not missed, and fires where it is seen.
        let Some(row) = rows.iter().find(|row| row.id == *id) else { continue };
        match (row.evidence, row.worst()) {
            (Evidence::Checked, RequirementState::Failing) => untold.extend(could_not_see(row)),
            (Evidence::DataOnly, RequirementState::Failing) => because.push(format!("{id} does not hold")),
            (_, RequirementState::NotEvaluated) if trigger.signal.is_none() => {
                untold.push(format!("{id} is not evaluated here"));
            }
            _ => {}
        }
    }
    TriggerRow {
        id: trigger.id.clone(),
        about: trigger.about.clone(),
        source: trigger.claims.join("; "),
        phase: trigger.phase,
        action: trigger.action.clone(),
        fired: !because.is_empty(),
        because,
        untold,
        signal: trigger.signal.clone(),
        seen: said.map(|said| said.words.clone()),
    }
}

/// Where a requirement could not be looked at as it should.
fn could_not_see(row: &RequirementRow) -> Option<String> {
    let is_blind = |proof: &&Proof| {
        matches!(proof.verdict, Verdict::Unknown | Verdict::Untestable | Verdict::HarnessError)
    };
    let blind: Vec<String> =
        row.cases.iter().filter(is_blind).map(|proof| format!("{} ({})", proof.case, proof.server)).collect();
    (!blind.is_empty()).then(|| format!("{} could not be checked in {}", row.id, blind.join(", ")))
}

/// Where the check of a requirement is red, whatever the case is to prove.
fn red_cells(matrix: &Matrix, requirement: &str, cells: &[Cell]) -> Vec<String> {
    let check = matrix.requirements.get(requirement).and_then(|requirement| requirement.check.as_deref());
    let is_red = |judged: &Judged| Some(judged.check) == check && judged.verdict == Verdict::Fail;
    let red = cells.iter().filter(|cell| cell.checks.iter().any(is_red));
    red.map(|cell| format!("{} ({})", cell.case, cell.server)).collect()
}

/// What a cell says of a requirement that `check` shows. A check that saw nothing has shown nothing.
pub(super) fn proof(cell: &Cell, check: Option<&str>) -> Proof {
    let judged = cell.checks.iter().find(|judged| Some(judged.check) == check).map(|judged| judged.verdict);
    let shown = judged.filter(|shown| *shown != Verdict::NotApplicable).unwrap_or(Verdict::Untestable);
    let shown = if cell.verdict == Verdict::Unsupported { Verdict::Unsupported } else { shown };
    let verdict = shown.max(cell.verdict);
    let lacks = match verdict {
        Verdict::Unsupported if cell.lacks.is_empty() => needed_for(check),
        Verdict::Unsupported => cell.lacks.clone(),
        _ => Vec::new(),
    };
    Proof { case: cell.case.clone(), server: cell.server, verdict, lacks }
}

/// What an adapter has to declare so that a check looks at it.
fn needed_for(check: Option<&str>) -> Vec<String> {
    let named = check.and_then(checks::find);
    named.into_iter().flat_map(|check| check.needs).map(|needed| needed.word()).collect()
}

fn phase_row(phase: &Phase, gate: &Gate) -> PhaseRow {
    let number = phase.number;
    let rows: Vec<(&RequirementRow, RequirementState)> =
        gate.requirements.iter().filter_map(|row| Some((row, *row.states.get(&number)?))).collect();
    let mut counts = BTreeMap::new();
    for (_, state) in &rows {
        *counts.entry(*state).or_insert(0) += 1;
    }
    let fired = gate.triggers.iter().filter(|trigger| trigger.fired && trigger.phase <= number);
    let fired: Vec<String> = fired.map(|trigger| trigger.id.clone()).collect();
    PhaseRow {
        number,
        name: phase.name.clone(),
        result: result(&rows, gate, !fired.is_empty()),
        counts,
        fired,
    }
}

fn result(rows: &[(&RequirementRow, RequirementState)], gate: &Gate, fired: bool) -> GateResult {
    let count = |wanted: RequirementState| rows.iter().filter(|(_, state)| *state == wanted).count();
    let failing = rows.iter().filter(|(_, state)| *state == RequirementState::Failing);
    // What recordings and signals say is sure; cells may not have been able to tell.
    let is_sure = |row: &RequirementRow| {
        let worst = row.cases.iter().map(|proof| proof.verdict).max();
        row.evidence != Evidence::Checked || matches!(worst, Some(Verdict::Fail | Verdict::Unsupported))
    };
    let failing: Vec<bool> = failing.map(|(row, _)| is_sure(row)).collect();
    let broken = count(RequirementState::Missing) + count(RequirementState::OwedButProven);
    let lost = gate.mutants.iter().flat_map(|mutant| &mutant.cells);
    let lost = lost.filter(|cell| cell.verdict == Verdict::HarnessError).count();
    // So is a trigger: no case that could not tell makes one fire.
    if failing.contains(&true) || fired {
        GateResult::Fail
    } else if failing.contains(&false) || lost > 0 {
        GateResult::CouldNotCheck
    } else if broken > 0 || !gate.toothless.is_empty() {
        GateResult::Fail
    } else {
        match count(RequirementState::Owed) {
            0 => GateResult::Pass,
            owed => GateResult::PassWithDebt(owed),
        }
    }
}
