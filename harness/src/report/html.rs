//! A report as one page that is complete in itself: it opens from a mail or from a CI artifact, offline and years
//! later. Here the report becomes what the page shows; `html/page.html.j2` says how it looks.
//!
//! What adapters and servers say is untrusted: the template engine escapes all of it, and the page may load nothing.
//!
//! * [`cells`] — cell by cell: checks, time lines, cases, mutants.
//! * [`features`] — feature by feature what became of the requirements.
//! * [`triggers`] — what sends users back.
//! * [`kits`] — of the kits the same, without servers and phases.
//! * [`marks`] — how states are shown.

mod cells;
mod features;
mod kits;
mod marks;
mod triggers;

use super::{Gate, Report, RequirementState};
use crate::judge::Verdict;
use cells::{Anchors, CaseRow, Group, Lane, Link, Mutant};
use marks::Mark;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The name ends in `.html` so that the engine escapes.
const TEMPLATE: &str = "page.html";
/// Its part about kits.
const KITS: &str = "kits.html";

/// The report as an HTML page.
///
/// # Errors
/// Only when the template is broken, which the tests would show.
pub fn render(report: &Report) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_template(TEMPLATE, include_str!("html/page.html.j2"))?;
    environment.add_template(KITS, include_str!("html/kits.html.j2"))?;
    environment.add_template("style.css", include_str!("html/style.css.j2"))?;
    environment.add_template("script.js", include_str!("html/script.js.j2"))?;
    let page = page(report);
    environment.get_template(TEMPLATE)?.render(Value::from(Serde(&page))).map(|text| text + "\n")
}

#[derive(Serialize)]
struct Page<'a> {
    by: &'a str,
    format: u32,
    title: String,
    result: String,
    mark: Mark,
    tiles: Vec<Tile>,
    /// The phases that were asked for: the columns of the matrix.
    columns: Vec<(u32, &'a str)>,
    adapters: Vec<Adapter<'a>>,
    states: Vec<Mark>,
    verdicts: Vec<Mark>,
    areas: BTreeSet<&'a str>,
    /// The phases from which on requirements hold.
    phases: BTreeSet<u32>,
    triggers: Vec<triggers::Trigger<'a>>,
    features: Vec<features::Feature<'a>>,
    gates: Vec<GateView<'a>>,
    kits: Vec<kits::Kit<'a>>,
    lanes: [Lane; 8],
}

/// A number of the headline with what it is made of.
#[derive(Serialize)]
struct Tile {
    label: String,
    good: usize,
    all: usize,
    parts: Vec<Part>,
}

#[derive(Serialize)]
struct Part {
    mark: Mark,
    count: usize,
}

/// What comes of an adapter's phases.
#[derive(Serialize)]
struct Adapter<'a> {
    name: &'a str,
    number: usize,
    partition: Option<&'a str>,
    result: String,
    mark: Mark,
    phases: Vec<PhaseView<'a>>,
}

#[derive(Serialize)]
struct PhaseView<'a> {
    number: u32,
    name: &'a str,
    result: String,
    mark: Mark,
    parts: Vec<Part>,
    fired: &'a [String],
}

/// Everything of an adapter that is told cell by cell.
#[derive(Serialize)]
struct GateView<'a> {
    adapter: &'a str,
    /// Distinguishes the anchors of adapters.
    number: usize,
    servers: Vec<&'static str>,
    cases: Vec<CaseRow<'a>>,
    with_mutants: bool,
    mutants: Vec<Mutant<'a>>,
    toothless: &'a [String],
    groups: Vec<Group<'a>>,
}

fn page(report: &Report) -> Page<'_> {
    let mut anchors = Anchors::default();
    let links: Vec<Vec<Link>> =
        report.gates.iter().map(|gate| cells::links(&gate.cells, marks::of_cell, &mut anchors)).collect();
    let of_gates = || report.gates.iter().zip(&links).enumerate();
    let rows = || report.gates.iter().flat_map(|gate| &gate.phases);
    let requirements = || report.gates.iter().flat_map(|gate| &gate.requirements);
    let result = report.result();
    Page {
        by: &report.by,
        format: report.format,
        title: title(report),
        result: result.to_string(),
        mark: marks::of_result(result),
        tiles: report.gates.iter().flat_map(tiles).chain(report.kits.iter().flat_map(kits::tiles)).collect(),
        columns: rows()
            .map(|phase| (phase.number, phase.name.as_str()))
            .collect::<BTreeMap<_, _>>()
            .into_iter()
            .collect(),
        adapters: adapters(report),
        states: states(report),
        verdicts: verdicts(report),
        areas: requirements().map(|row| features::area(&row.feature)).collect(),
        phases: requirements().map(|row| row.phase).collect(),
        triggers: triggers::of(report, &links),
        features: features::of(report, &links),
        gates: of_gates()
            .map(|(number, (gate, links))| gate_view(number, gate, links, &mut anchors))
            .collect(),
        kits: kits::of(report, &mut anchors),
        lanes: cells::lanes(),
    }
}

fn title(report: &Report) -> String {
    let phases: BTreeSet<(u32, &str)> = report
        .gates
        .iter()
        .flat_map(|gate| &gate.phases)
        .map(|phase| (phase.number, phase.name.as_str()))
        .collect();
    match phases.iter().collect::<Vec<_>>()[..] {
        [(number, name)] => format!("Phase {number}: {name}"),
        [(first, _), .., (last, _)] => format!("Phases {first} to {last}"),
        [] => {
            let kits: Vec<&str> = report.kits.iter().map(|kit| kit.kit.as_str()).collect();
            if kits.is_empty() { "No phase".to_owned() } else { format!("Kits: {}", kits.join(", ")) }
        }
    }
}

fn tiles(gate: &Gate) -> Vec<Tile> {
    let label = |what: &str| format!("{what}, {}", gate.subject);
    let states = gate.requirements.iter().map(|row| marks::of_state(row.worst()));
    let mut tiles = vec![
        tile(label("requirements proven"), states),
        tile(label("cells pass"), gate.cells.iter().map(marks::of_cell)),
    ];
    if gate.with_mutants {
        tiles.push(tile("mutants caught".to_owned(), gate.mutants.iter().map(marks::of_mutant)));
    }
    tiles
}

/// Counts equal marks, in the order in which they come.
fn tile(label: String, marks: impl Iterator<Item = Mark>) -> Tile {
    let mut parts: Vec<Part> = Vec::new();
    for mark in marks {
        match parts.iter_mut().find(|part| part.mark == mark) {
            Some(part) => part.count += 1,
            None => parts.push(Part { mark, count: 1 }),
        }
    }
    let good = parts.iter().filter(|part| part.mark.tone == "good").map(|part| part.count).sum();
    Tile { label, good, all: parts.iter().map(|part| part.count).sum(), parts }
}

/// The adapters, the worst first: who opens the page wants to know which one it is.
fn adapters(report: &Report) -> Vec<Adapter<'_>> {
    let mut gates: Vec<(usize, &Gate)> = report.gates.iter().enumerate().collect();
    gates.sort_by_key(|(_, gate)| Reverse(gate.result()));
    gates.into_iter().map(|(number, gate)| adapter(number + 1, gate)).collect()
}

fn adapter<'a>(number: usize, gate: &'a Gate) -> Adapter<'a> {
    let parts = |row: &super::PhaseRow| {
        let part = |(state, count): (&RequirementState, &usize)| Part {
            mark: marks::of_state(*state),
            count: *count,
        };
        // The worst first, as everywhere.
        row.counts.iter().rev().map(part).collect()
    };
    let phase = |row: &'a super::PhaseRow| PhaseView {
        number: row.number,
        name: &row.name,
        result: row.result.to_string(),
        mark: marks::of_result(row.result),
        parts: parts(row),
        fired: &row.fired,
    };
    Adapter {
        name: &gate.subject,
        number,
        partition: gate.partition.as_deref(),
        result: gate.result().to_string(),
        mark: marks::of_result(gate.result()),
        phases: gate.phases.iter().map(phase).collect(),
    }
}

/// The states that there are, for who wants to see one only.
fn states(report: &Report) -> Vec<Mark> {
    let rows = report.gates.iter().flat_map(|gate| &gate.requirements);
    let states: BTreeSet<Reverse<RequirementState>> = rows.map(|row| Reverse(row.worst())).collect();
    let mut marks: Vec<Mark> = states.into_iter().map(|Reverse(state)| marks::of_state(state)).collect();
    marks.dedup();
    marks
}

/// The verdicts that there are, the worst first.
fn verdicts(report: &Report) -> Vec<Mark> {
    let cells = report.gates.iter().flat_map(|gate| &gate.cells);
    let verdicts: BTreeSet<Reverse<Verdict>> = cells.map(|cell| Reverse(cell.verdict)).collect();
    verdicts.into_iter().map(|Reverse(verdict)| marks::of_verdict(verdict)).collect()
}

fn gate_view<'a>(number: usize, gate: &'a Gate, links: &[Link], anchors: &mut Anchors) -> GateView<'a> {
    let servers = cells::servers(gate);
    let claims = cells::Claims::of(gate);
    let (mutants, mut groups) = cells::mutants(gate, &claims, anchors);
    groups.insert(0, cells::own_group(gate, &claims, links));
    GateView {
        adapter: &gate.subject,
        number: number + 1,
        cases: cells::case_rows(gate, links, &servers),
        servers: servers.into_iter().map(fixtures::ServerKind::word).collect(),
        with_mutants: gate.with_mutants,
        mutants,
        toothless: &gate.toothless,
        groups,
    }
}

#[cfg(test)]
mod tests;
