//! What the page tells cell by cell: of an adapter and of the mutants that went through the same cases.

use super::features::area;
use super::marks::{self, Mark};
use crate::judge::{Judged, Verdict};
use crate::report::timeline::{Entry, Who};
use crate::report::{Cell, Gate, MutantRow, Proof, RequirementRow};
use fixtures::ServerKind;
use serde::Serialize;
use std::cmp::Reverse;
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
    /// It is opened for print: what passes is told by its title there.
    quiet: bool,
    troubles: &'a [String],
    /// The requirements that it is to prove, the worst first.
    claims: Vec<ClaimView<'a>>,
    /// From when on, and where in the matrix: for the filters.
    phases: BTreeSet<u32>,
    areas: BTreeSet<&'a str>,
    /// The checks that have examined something, the worst first.
    checks: Vec<CheckView<'a>>,
    /// The checks that had no occasion.
    idle: Vec<&'a str>,
    rerun: &'a str,
    entries: Vec<EntryView<'a>>,
}

/// A requirement in a cell that is to prove it.
#[derive(Serialize)]
struct ClaimView<'a> {
    id: &'a str,
    about: &'a str,
    /// What came of it here. A mutant proves nothing, and has none.
    mark: Option<Mark>,
}

/// Which requirements each cell is to prove.
pub(super) struct Claims<'a>(BTreeMap<(&'a str, ServerKind), Vec<(&'a RequirementRow, &'a Proof)>>);

impl<'a> Claims<'a> {
    pub(super) fn of(gate: &'a Gate) -> Self {
        let mut claims: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for row in &gate.requirements {
            for proof in &row.cases {
                claims.entry((proof.case.as_str(), proof.server)).or_default().push((row, proof));
            }
        }
        for of_cell in claims.values_mut() {
            of_cell.sort_by_key(|(_, proof)| Reverse(proof.verdict));
        }
        Self(claims)
    }

    fn in_cell(&self, cell: &'a Cell) -> &[(&'a RequirementRow, &'a Proof)] {
        self.0.get(&(cell.case.as_str(), cell.server)).map(Vec::as_slice).unwrap_or_default()
    }
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
    /// How often it happened in a row.
    times: usize,
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
    let mut worst: BTreeMap<&str, Verdict> = BTreeMap::new();
    for cell in &gate.cells {
        let known = worst.entry(&cell.case).or_insert(cell.verdict);
        *known = cell.verdict.max(*known);
    }
    let mut known = BTreeSet::new();
    let mut each_once: Vec<&Cell> =
        gate.cells.iter().filter(|cell| known.insert(cell.case.as_str())).collect();
    each_once.sort_by_key(|cell| Reverse(worst.get(cell.case.as_str()).copied()));
    let row = |cell: &'a Cell| CaseRow {
        name: &cell.case,
        about: &cell.about,
        links: servers
            .iter()
            .map(|server| cells.get(&(cell.case.as_str(), *server)).copied().cloned())
            .collect(),
    };
    each_once.into_iter().map(row).collect()
}

/// The adapter's own cells.
pub(super) fn own_group<'a>(gate: &'a Gate, claims: &Claims<'a>, links: &[Link]) -> Group<'a> {
    Group {
        title: gate.subject.clone(),
        about: "The adapter that is judged.",
        back: "cases",
        cells: views(&gate.cells, claims, links, true),
    }
}

/// The mutants, and their cells.
pub(super) fn mutants<'a>(
    gate: &'a Gate,
    claims: &Claims<'a>,
    anchors: &mut Anchors,
) -> (Vec<Mutant<'a>>, Vec<Group<'a>>) {
    let mut rows = Vec::new();
    let mut groups = Vec::new();
    for row in &gate.mutants {
        let links = links(&row.cells, marks::of_mutant_cell, anchors);
        groups.push(Group {
            title: format!("Mutant {}", row.name),
            about: &row.about,
            back: "catches",
            cells: views(&row.cells, claims, &links, false),
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

/// The worst first. Cells of the adapter's own that call for a look are open from the start.
fn views<'a>(cells: &'a [Cell], claims: &Claims<'a>, links: &[Link], own: bool) -> Vec<CellView<'a>> {
    let mut cells: Vec<(&Cell, &Link)> = cells.iter().zip(links).collect();
    cells.sort_by_key(|(cell, _)| Reverse(cell.verdict));
    cells.into_iter().map(|(cell, link)| view(cell, link, claims.in_cell(cell), own)).collect()
}

fn view<'a>(
    cell: &'a Cell,
    link: &Link,
    claims: &[(&'a RequirementRow, &'a Proof)],
    own: bool,
) -> CellView<'a> {
    let (idle, mut seen): (Vec<&Judged>, Vec<&Judged>) =
        cell.checks.iter().partition(|judged| judged.verdict == Verdict::NotApplicable);
    seen.sort_by_key(|judged| Reverse(judged.verdict));
    let claim = |(row, proof): &(&'a RequirementRow, &'a Proof)| ClaimView {
        id: &row.id,
        about: &row.about,
        mark: own.then(|| marks::of_verdict(proof.verdict)),
    };
    CellView {
        anchor: link.anchor.clone(),
        case: &cell.case,
        about: &cell.about,
        server: cell.server.word(),
        adapter: &cell.adapter,
        mark: link.mark,
        verdict: cell.verdict.to_string(),
        open: own && cell.verdict != Verdict::Pass,
        quiet: !own || matches!(cell.verdict, Verdict::Pass | Verdict::NotApplicable),
        troubles: &cell.troubles,
        claims: claims.iter().map(claim).collect(),
        phases: claims.iter().map(|(row, _)| row.phase).collect(),
        areas: claims.iter().map(|(row, _)| area(&row.feature)).collect(),
        checks: seen.into_iter().map(check).collect(),
        idle: idle.into_iter().map(|judged| judged.check).collect(),
        rerun: &cell.rerun,
        entries: entries(&cell.timeline),
    }
}

fn check(judged: &Judged) -> CheckView<'_> {
    let mark = marks::of_verdict(judged.verdict);
    CheckView { name: judged.check, mark, facts: judged.facts, findings: &judged.findings }
}

/// A run of one kind is one row: what the servers say forty times hides what they say once.
pub(super) fn entries(timeline: &[Entry]) -> Vec<EntryView<'_>> {
    timeline
        .chunk_by(|one, next| one.who == next.who && one.what == next.what)
        .filter_map(|run| Some((run.first()?, run.len())))
        .map(|(first, times)| EntryView {
            at: format!("{:.1}", first.at_ms),
            lane: first.who,
            what: &first.what,
            times,
        })
        .collect()
}

pub(super) fn lanes() -> [Lane; 8] {
    let lane = |key, label, about| Lane { key, label, about, sign: "" };
    [
        lane(Who::Person, "Person", "does"),
        lane(Who::Adapter, "Adapter", "answers, logs, counts"),
        lane(Who::Screen, "Screen", "shows"),
        lane(Who::Rest, "REST", "adapter asks"),
        lane(Who::Stream, "Stream", "server tells"),
        lane(Who::Model, "Model", "server asks"),
        Lane { key: Who::Fault, label: "Fault", about: "broken on purpose", sign: "⚡ " },
        Lane { key: Who::Trouble, label: "Trouble", about: "of the run itself", sign: "✗ " },
    ]
}
