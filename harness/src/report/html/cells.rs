//! What the page tells cell by cell: of an adapter and of the mutants that went through the same cases.

use super::marks::{self, Mark};
use crate::judge::{Judged, Verdict};
use crate::report::timeline::{Entry, Who};
use crate::report::{Cell, Gate, MutantRow};
use fixtures::ServerKind;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Where a cell is told in full.
#[derive(Clone, Serialize)]
pub(super) struct Link {
    pub(super) anchor: String,
    pub(super) mark: Mark,
    pub(super) case: String,
    pub(super) server: &'static str,
}

#[derive(Serialize)]
pub(super) struct CaseRow<'a> {
    name: &'a str,
    about: &'a str,
    links: Vec<Option<Link>>,
}

#[derive(Serialize)]
pub(super) struct Mutant<'a> {
    name: &'a str,
    about: &'a str,
    mark: Mark,
    caught_by: BTreeSet<&'a str>,
    links: Vec<Link>,
}

/// Cells of one adapter.
#[derive(Serialize)]
pub(super) struct Group<'a> {
    title: String,
    about: &'a str,
    /// The table that leads to them.
    back: &'static str,
    cells: Vec<CellView<'a>>,
}

#[derive(Serialize)]
struct CellView<'a> {
    anchor: String,
    case: &'a str,
    about: &'a str,
    server: &'static str,
    adapter: &'a str,
    mark: Mark,
    verdict: String,
    open: bool,
    troubles: &'a [String],
    checks: Vec<CheckView<'a>>,
    rerun: &'a str,
    entries: Vec<EntryView<'a>>,
}

#[derive(Serialize)]
struct CheckView<'a> {
    name: &'a str,
    mark: Mark,
    facts: usize,
    findings: &'a [String],
}

#[derive(Serialize)]
pub(super) struct EntryView<'a> {
    at: String,
    lane: Who,
    what: &'a str,
}

/// A column of the time lines.
#[derive(Serialize)]
pub(super) struct Lane {
    key: Who,
    label: &'static str,
    about: &'static str,
    /// What stands before its entries.
    sign: &'static str,
}

/// Gives every cell a readable anchor that no other cell has.
#[derive(Default)]
pub(super) struct Anchors(BTreeSet<String>);

impl Anchors {
    pub(super) fn of(&mut self, name: &str) -> String {
        let plain = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-");
        let mut anchor = plain.clone();
        let mut number = 1;
        while !self.0.insert(anchor.clone()) {
            number += 1;
            anchor = format!("{plain}-{number}");
        }
        anchor
    }
}

pub(super) fn links(cells: &[Cell], mark: fn(&Cell) -> Mark, anchors: &mut Anchors) -> Vec<Link> {
    let link = |cell: &Cell| Link {
        anchor: anchors.of(&format!("cell-{}-{}-{}", cell.adapter, cell.case, cell.server)),
        mark: mark(cell),
        case: cell.case.clone(),
        server: cell.server.word(),
    };
    cells.iter().map(link).collect()
}

pub(super) fn servers(gate: &Gate) -> Vec<ServerKind> {
    let run = |server: &ServerKind| gate.cells.iter().any(|cell| cell.server == *server);
    ServerKind::ALL.into_iter().filter(run).collect()
}

pub(super) fn case_rows<'a>(gate: &'a Gate, links: &[Link], servers: &[ServerKind]) -> Vec<CaseRow<'a>> {
    let cells: BTreeMap<(&str, ServerKind), &Link> =
        gate.cells.iter().zip(links).map(|(cell, link)| ((cell.case.as_str(), cell.server), link)).collect();
    let mut known = BTreeSet::new();
    let each_once = gate.cells.iter().filter(|cell| known.insert(cell.case.as_str()));
    each_once
        .map(|cell| CaseRow {
            name: &cell.case,
            about: &cell.about,
            links: servers
                .iter()
                .map(|server| cells.get(&(cell.case.as_str(), *server)).copied().cloned())
                .collect(),
        })
        .collect()
}

/// The adapter's own cells.
pub(super) fn own_group<'a>(gate: &'a Gate, links: &[Link]) -> Group<'a> {
    Group {
        title: gate.subject.clone(),
        about: "The adapter that is judged.",
        back: "cases",
        cells: views(&gate.cells, links, true),
    }
}

/// The mutants, and their cells.
pub(super) fn mutants<'a>(gate: &'a Gate, anchors: &mut Anchors) -> (Vec<Mutant<'a>>, Vec<Group<'a>>) {
    let mut rows = Vec::new();
    let mut groups = Vec::new();
    for row in &gate.mutants {
        let links = links(&row.cells, marks::of_mutant_cell, anchors);
        groups.push(Group {
            title: format!("Mutant {}", row.name),
            about: &row.about,
            back: "catches",
            cells: views(&row.cells, &links, false),
        });
        rows.push(mutant(row, links));
    }
    (rows, groups)
}

fn mutant(row: &MutantRow, links: Vec<Link>) -> Mutant<'_> {
    let checks = row.cells.iter().flat_map(|cell| &cell.checks);
    let red = checks.filter(|judged| judged.verdict == Verdict::Fail).map(|judged| judged.check);
    Mutant {
        name: &row.name,
        about: &row.about,
        mark: marks::of_mutant(row),
        caught_by: red.collect(),
        links,
    }
}

/// Cells that call for a look are open from the start.
fn views<'a>(cells: &'a [Cell], links: &[Link], open_bad: bool) -> Vec<CellView<'a>> {
    let view = |(cell, link): (&'a Cell, &Link)| CellView {
        anchor: link.anchor.clone(),
        case: &cell.case,
        about: &cell.about,
        server: cell.server.word(),
        adapter: &cell.adapter,
        mark: link.mark,
        verdict: cell.verdict.to_string(),
        open: open_bad && cell.verdict != Verdict::Pass,
        troubles: &cell.troubles,
        checks: cell.checks.iter().map(check).collect(),
        rerun: &cell.rerun,
        entries: entries(&cell.timeline),
    };
    cells.iter().zip(links).map(view).collect()
}

fn check(judged: &Judged) -> CheckView<'_> {
    let mark = marks::of_verdict(judged.verdict);
    CheckView { name: judged.check, mark, facts: judged.facts, findings: &judged.findings }
}

pub(super) fn entries(timeline: &[Entry]) -> Vec<EntryView<'_>> {
    timeline.iter().map(entry).collect()
}

fn entry(entry: &Entry) -> EntryView<'_> {
    EntryView { at: format!("{:.1}", entry.at_ms), lane: entry.who, what: &entry.what }
}

pub(super) fn lanes() -> [Lane; 7] {
    let lane = |key, label, about| Lane { key, label, about, sign: "" };
    [
        lane(Who::Person, "Person", "does"),
        lane(Who::Screen, "Screen", "shows"),
        lane(Who::Rest, "REST", "adapter asks"),
        lane(Who::Stream, "Stream", "server tells"),
        lane(Who::Model, "Model", "server asks"),
        Lane { key: Who::Fault, label: "Fault", about: "broken on purpose", sign: "⚡ " },
        Lane { key: Who::Trouble, label: "Trouble", about: "of the run itself", sign: "✗ " },
    ]
}
