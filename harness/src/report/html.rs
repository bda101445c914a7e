//! A gate's report as one page that is complete in itself: it opens from a mail or from a CI artifact, offline and
//! years later. Here the report becomes what the page shows; `html/page.html.j2` says how it looks.
//!
//! What adapters and servers say is untrusted: the template engine escapes all of it, and the page may load nothing.

mod marks;

use super::timeline::{Entry, Who};
use super::{Cell, GateReport, MutantRow, RequirementRow, RequirementState};
use crate::judge::{Judged, Verdict};
use fixtures::ServerKind;
use marks::Mark;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The name ends in `.html` so that the engine escapes.
const TEMPLATE: &str = "page.html";

/// The report as an HTML page.
///
/// # Errors
/// Only when the template is broken, which the tests would show.
pub fn render(report: &GateReport) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_template(TEMPLATE, include_str!("html/page.html.j2"))?;
    let page = page(report);
    environment.get_template(TEMPLATE)?.render(Value::from(Serde(&page))).map(|text| text + "\n")
}

#[derive(Serialize)]
struct Page<'a> {
    by: &'a str,
    format: u32,
    phase: u32,
    phase_name: &'a str,
    result: String,
    mark: Mark,
    tiles: Vec<Tile>,
    requirements: Vec<Requirement<'a>>,
    servers: Vec<&'static str>,
    cases: Vec<CaseRow<'a>>,
    mutant_cases: Vec<&'a str>,
    mutants: Vec<Mutant<'a>>,
    triggers: Vec<String>,
    toothless: &'a [String],
    groups: Vec<Group<'a>>,
    lanes: [Lane; 7],
}

/// A number of the headline with what it is made of.
#[derive(Serialize)]
struct Tile {
    label: &'static str,
    good: usize,
    all: usize,
    parts: Vec<Part>,
}

#[derive(Serialize)]
struct Part {
    mark: Mark,
    count: usize,
}

#[derive(Serialize)]
struct Requirement<'a> {
    id: &'a str,
    about: &'a str,
    source: &'a str,
    mark: Mark,
    note: Option<&'a str>,
    proofs: Vec<Proof>,
}

#[derive(Serialize)]
struct Proof {
    label: String,
    link: Option<Link>,
}

/// Where a cell is told in full.
#[derive(Clone, Serialize)]
struct Link {
    anchor: String,
    mark: Mark,
    server: &'static str,
}

#[derive(Serialize)]
struct CaseRow<'a> {
    name: &'a str,
    about: &'a str,
    links: Vec<Option<Link>>,
}

#[derive(Serialize)]
struct Mutant<'a> {
    name: &'a str,
    about: &'a str,
    mark: Mark,
    caught_by: BTreeSet<&'a str>,
    /// Case by case, and in each server by server.
    links: Vec<Vec<Link>>,
}

/// Cells of one adapter.
#[derive(Serialize)]
struct Group<'a> {
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
struct EntryView<'a> {
    at: String,
    lane: Who,
    what: &'a str,
}

/// A column of the time lines.
#[derive(Serialize)]
struct Lane {
    key: Who,
    label: &'static str,
    about: &'static str,
    /// What stands before its entries.
    sign: &'static str,
}

/// Gives every cell a readable anchor that no other cell has.
#[derive(Default)]
struct Anchors(BTreeSet<String>);

impl Anchors {
    fn of(&mut self, cell: &Cell) -> String {
        let name = format!("cell-{}-{}-{}", cell.adapter, cell.case, cell.server);
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

fn page(report: &GateReport) -> Page<'_> {
    let mut anchors = Anchors::default();
    let reference: Vec<Link> = links(&report.cells, marks::of_cell, &mut anchors);
    let mutants: Vec<Vec<Link>> =
        report.mutants.iter().map(|row| links(&row.cells, marks::of_mutant_cell, &mut anchors)).collect();
    let servers = servers(report);
    let mutant_cases = case_names(report.mutants.iter().flat_map(|row| &row.cells));
    let rows = || report.mutants.iter().zip(&mutants);
    let mut groups = vec![Group {
        title: "The reference adapter".to_owned(),
        about: "It keeps every promise; what it shows is what a good client shows.",
        back: "matrix",
        cells: cells(&report.cells, &reference, true),
    }];
    groups.extend(rows().map(|(row, links)| Group {
        title: format!("Mutant {}", row.name),
        about: &row.about,
        back: "catches",
        cells: cells(&row.cells, links, false),
    }));
    let mutant_rows = rows().map(|(row, links)| mutant(row, links, &mutant_cases)).collect();
    Page {
        by: &report.by,
        format: report.format,
        phase: report.phase,
        phase_name: &report.phase_name,
        result: report.result.to_string(),
        mark: marks::of_result(report.result),
        tiles: vec![
            tile("requirements proven", report.requirements.iter().map(|row| marks::of_state(row.state))),
            tile("cells of the reference pass", reference.iter().map(|link| link.mark)),
            tile("mutants caught", report.mutants.iter().map(marks::of_mutant)),
        ],
        requirements: report.requirements.iter().map(|row| requirement(row, report, &reference)).collect(),
        cases: case_rows(report, &reference, &servers),
        servers: servers.into_iter().map(ServerKind::word).collect(),
        mutant_cases,
        mutants: mutant_rows,
        triggers: report.triggers.iter().map(ToString::to_string).collect(),
        toothless: &report.toothless,
        groups,
        lanes: lanes(),
    }
}

fn links(cells: &[Cell], mark: fn(&Cell) -> Mark, anchors: &mut Anchors) -> Vec<Link> {
    let link = |cell: &Cell| Link { anchor: anchors.of(cell), mark: mark(cell), server: cell.server.word() };
    cells.iter().map(link).collect()
}

fn servers(report: &GateReport) -> Vec<ServerKind> {
    let run = |server: &ServerKind| report.cells.iter().any(|cell| cell.server == *server);
    ServerKind::ALL.into_iter().filter(run).collect()
}

/// The cases of these cells, each once, in their order.
fn case_names<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<&'a str> {
    let mut known = BTreeSet::new();
    cells.map(|cell| cell.case.as_str()).filter(|case| known.insert(*case)).collect()
}

fn case_rows<'a>(report: &'a GateReport, links: &[Link], servers: &[ServerKind]) -> Vec<CaseRow<'a>> {
    let cells: BTreeMap<(&str, ServerKind), (&Cell, &Link)> = report
        .cells
        .iter()
        .zip(links)
        .map(|(cell, link)| ((cell.case.as_str(), cell.server), (cell, link)))
        .collect();
    let row = |name: &'a str| {
        let found = || servers.iter().map(|server| cells.get(&(name, *server)));
        let about = report.cells.iter().find(|cell| cell.case == name).map(|cell| cell.about.as_str());
        let links = found().map(|cell| cell.map(|(_, link)| (*link).clone())).collect();
        CaseRow { name, about: about.unwrap_or_default(), links }
    };
    case_names(report.cells.iter()).into_iter().map(row).collect()
}

fn requirement<'a>(row: &'a RequirementRow, report: &GateReport, links: &[Link]) -> Requirement<'a> {
    let proof = |proof: &super::Proof| {
        let is = |cell: &Cell| cell.case == proof.case && cell.server == proof.server;
        let link = report.cells.iter().position(is).and_then(|at| links.get(at)).cloned();
        // Its own mark: a cell may pass without proving this requirement.
        let link = link.map(|link| Link { mark: marks::of_verdict(proof.verdict), ..link });
        Proof { label: proof.to_string(), link }
    };
    let note = match row.state {
        RequirementState::OwedButProven => {
            Some("It is proven, and yet in parity-specs/debt.toml: delete the entry.")
        }
        RequirementState::Missing => {
            Some("No case proves it, and parity-specs/debt.toml does not say so: add one of the two.")
        }
        _ => row.reason.as_deref(),
    };
    Requirement {
        id: &row.id,
        about: &row.about,
        source: &row.source,
        mark: marks::of_state(row.state),
        note,
        proofs: row.cases.iter().map(proof).collect(),
    }
}

fn mutant<'a>(row: &'a MutantRow, links: &[Link], cases: &[&str]) -> Mutant<'a> {
    let of_case = |case: &&str| {
        let cells = row.cells.iter().zip(links).filter(|(cell, _)| cell.case == **case);
        cells.map(|(_, link)| link.clone()).collect()
    };
    let checks = row.cells.iter().flat_map(|cell| &cell.checks);
    Mutant {
        name: &row.name,
        about: &row.about,
        mark: marks::of_mutant(row),
        caught_by: checks
            .filter(|judged| judged.verdict == Verdict::Fail)
            .map(|judged| judged.check)
            .collect(),
        links: cases.iter().map(of_case).collect(),
    }
}

/// Cells that call for a look are open from the start.
fn cells<'a>(cells: &'a [Cell], links: &[Link], open_bad: bool) -> Vec<CellView<'a>> {
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
        entries: cell.timeline.iter().map(entry).collect(),
    };
    cells.iter().zip(links).map(view).collect()
}

fn check(judged: &Judged) -> CheckView<'_> {
    let mark = marks::of_verdict(judged.verdict);
    CheckView { name: judged.check, mark, facts: judged.facts, findings: &judged.findings }
}

fn entry(entry: &Entry) -> EntryView<'_> {
    EntryView { at: format!("{:.1}", entry.at_ms), lane: entry.who, what: &entry.what }
}

/// Counts equal marks, in the order in which they come.
fn tile(label: &'static str, marks: impl Iterator<Item = Mark>) -> Tile {
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

fn lanes() -> [Lane; 7] {
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

#[cfg(test)]
mod tests;
