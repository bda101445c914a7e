//! What the page tells of kits: requirement by requirement, case by case, and what the mutants show.

use super::cells::{Anchors, EntryView, entries};
use super::marks::{self, Mark};
use super::{Tile, tile};
use crate::judge::Verdict;
use crate::report::kit::{KitCell, KitGate, KitMutant};
use crate::report::{Report, RequirementState};
use serde::Serialize;
use std::cmp::Reverse;

#[derive(Serialize)]
pub(super) struct Kit<'a> {
    name: &'a str,
    about: &'a str,
    adapter: &'a str,
    result: String,
    mark: Mark,
    counted: String,
    requirements: Vec<Row<'a>>,
    cells: Vec<CellView<'a>>,
    with_mutants: bool,
    mutants: Vec<Mutant<'a>>,
    toothless: &'a [String],
}

#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    about: &'a str,
    feature: &'a str,
    source: &'a str,
    mark: Mark,
    reason: Option<&'a str>,
    proofs: Vec<Proof<'a>>,
}

#[derive(Serialize)]
struct Proof<'a> {
    case: &'a str,
    mark: Mark,
    anchor: String,
}

#[derive(Serialize)]
struct CellView<'a> {
    anchor: String,
    case: &'a str,
    about: &'a str,
    mark: Mark,
    outcome: String,
    pin: Option<&'a str>,
    open: bool,
    troubles: &'a [String],
    checks: Vec<Check<'a>>,
    rerun: &'a str,
    entries: Vec<EntryView<'a>>,
}

#[derive(Serialize)]
struct Check<'a> {
    name: &'a str,
    mark: Mark,
    facts: usize,
    findings: &'a [String],
    advice: &'a [String],
}

#[derive(Serialize)]
struct Mutant<'a> {
    name: &'a str,
    about: &'a str,
    mark: Mark,
    caught_in: Vec<&'a str>,
}

/// The headline's numbers.
pub(super) fn tiles(gate: &KitGate) -> Vec<Tile> {
    let label = |what: &str| format!("{what}, {} {}", gate.kit, gate.subject);
    let mut tiles = vec![tile(
        label("requirements proven"),
        gate.requirements.iter().map(|row| marks::of_state(row.state)),
    )];
    if gate.with_mutants {
        let of = |row: &KitMutant| if row.is_caught() { marks::caught() } else { marks::survives() };
        tiles.push(tile(format!("mutants caught, {}", gate.kit), gate.mutants.iter().map(of)));
    }
    tiles
}

/// The kits of a report.
pub(super) fn of<'a>(report: &'a Report, anchors: &mut Anchors) -> Vec<Kit<'a>> {
    report.kits.iter().map(|gate| kit(gate, anchors)).collect()
}

fn kit<'a>(gate: &'a KitGate, anchors: &mut Anchors) -> Kit<'a> {
    let named: Vec<(&KitCell, String)> = gate
        .cells
        .iter()
        .map(|cell| (cell, anchors.of(&format!("kit-{}-{}", gate.kit, cell.case))))
        .collect();
    let anchor = |case: &str| {
        let found = named.iter().find(|(cell, _)| cell.case == case);
        found.map(|(_, anchor)| anchor.clone()).unwrap_or_default()
    };
    let mut rows: Vec<(RequirementState, Row<'a>)> = gate
        .requirements
        .iter()
        .map(|row| {
            let proofs = row.cases.iter().map(|proof| Proof {
                case: &proof.case,
                mark: marks::of_verdict(proof.verdict),
                anchor: anchor(&proof.case),
            });
            let view = Row {
                id: &row.id,
                about: &row.about,
                feature: &row.feature,
                source: &row.source,
                mark: marks::of_state(row.state),
                reason: row.reason.as_deref(),
                proofs: proofs.collect(),
            };
            (row.state, view)
        })
        .collect();
    rows.sort_by_key(|(state, _)| Reverse(*state));
    Kit {
        name: &gate.kit,
        about: &gate.about,
        adapter: &gate.subject,
        result: gate.result.to_string(),
        mark: marks::of_result(gate.result),
        counted: gate.counted(),
        requirements: rows.into_iter().map(|(_, row)| row).collect(),
        cells: named.iter().map(|(cell, anchor)| cell_view(cell, anchor.clone())).collect(),
        with_mutants: gate.with_mutants,
        mutants: gate.mutants.iter().map(mutant).collect(),
        toothless: &gate.toothless,
    }
}

fn cell_view(cell: &KitCell, anchor: String) -> CellView<'_> {
    let checks = cell.checks.iter().filter(|judged| judged.verdict != Verdict::NotApplicable);
    CellView {
        anchor,
        case: &cell.case,
        about: &cell.about,
        mark: marks::of_verdict(cell.verdict),
        outcome: cell.outcome(),
        pin: cell.pin.as_ref().map(|pin| pin.about.as_str()),
        open: cell.verdict == Verdict::Fail,
        troubles: &cell.troubles,
        checks: checks
            .map(|judged| Check {
                name: &judged.check,
                mark: marks::of_verdict(judged.verdict),
                facts: judged.facts,
                findings: &judged.findings,
                advice: &judged.advice,
            })
            .collect(),
        rerun: &cell.rerun,
        entries: entries(&cell.timeline),
    }
}

fn mutant(row: &KitMutant) -> Mutant<'_> {
    let caught = row.caught_in();
    let mark = if row.is_caught() { marks::caught() } else { marks::survives() };
    Mutant {
        name: &row.name,
        about: &row.about,
        mark,
        caught_in: caught.map(|cell| cell.case.as_str()).collect(),
    }
}
