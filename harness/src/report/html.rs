//! A report as one page that is complete in itself: it opens from a mail or from a CI artifact, offline and years
//! later. Here the report becomes what the page shows; `html/page.html.j2` says how it looks.
//!
//! What adapters and servers say is untrusted: the template engine escapes all of it, and the page may load nothing.
//!
//! * [`cells`] — cell by cell: checks, time lines, cases, mutants.
//! * [`kits`] — of the kits the same, without servers and phases.
//! * [`marks`] — how states are shown.

mod cells;
mod kits;
mod marks;

use super::{FeatureRow, Gate, Report, RequirementRow, RequirementState, TriggerRow};
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
    columns: Vec<Column<'a>>,
    adapters: Vec<Adapter<'a>>,
    states: Vec<Mark>,
    features: Vec<Feature<'a>>,
    gates: Vec<GateView<'a>>,
    kits: Vec<kits::Kit<'a>>,
    lanes: [Lane; 7],
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

/// A phase of an adapter: a column of the matrix.
#[derive(Serialize)]
struct Column<'a> {
    adapter: &'a str,
    phase: u32,
    name: &'a str,
}

/// What comes of an adapter's phases.
#[derive(Serialize)]
struct Adapter<'a> {
    name: &'a str,
    partition: Option<&'a str>,
    phases: Vec<PhaseView<'a>>,
    triggers: Vec<Trigger<'a>>,
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

#[derive(Serialize)]
struct Trigger<'a> {
    id: &'a str,
    about: &'a str,
    source: &'a str,
    phase: u32,
    action: &'a str,
    because: &'a [String],
    seen: Option<&'a str>,
    mark: Mark,
}

/// A feature page or decision with its requirements, the worst first.
#[derive(Serialize)]
struct Feature<'a> {
    name: &'a str,
    title: &'a str,
    owner: &'a str,
    area: &'a str,
    requirements: Vec<Requirement<'a>>,
}

#[derive(Serialize)]
struct Requirement<'a> {
    id: &'a str,
    about: &'a str,
    source: &'a str,
    evidence: &'static str,
    phase: u32,
    mvp: bool,
    worst: Mark,
    /// Column by column; nothing where the phase does not ask for it.
    marks: Vec<Option<Mark>>,
    notes: Vec<String>,
    proofs: Vec<Proof>,
}

#[derive(Serialize)]
struct Proof {
    label: String,
    link: Option<Link>,
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
    let result = report.result();
    Page {
        by: &report.by,
        format: report.format,
        title: title(report),
        result: result.to_string(),
        mark: marks::of_result(result),
        tiles: report.gates.iter().flat_map(tiles).chain(report.kits.iter().flat_map(kits::tiles)).collect(),
        columns: report.gates.iter().flat_map(columns).collect(),
        adapters: report.gates.iter().map(adapter).collect(),
        states: states(report),
        features: features(report, &links),
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

fn columns(gate: &Gate) -> impl Iterator<Item = Column<'_>> {
    gate.phases.iter().map(|phase| Column { adapter: &gate.subject, phase: phase.number, name: &phase.name })
}

fn adapter(gate: &Gate) -> Adapter<'_> {
    let phase = |phase: &'_ super::PhaseRow| {
        let part = |(state, count): (&RequirementState, &usize)| Part {
            mark: marks::of_state(*state),
            count: *count,
        };
        phase.counts.iter().map(part).collect::<Vec<_>>()
    };
    let mut triggers: Vec<&TriggerRow> = gate.triggers.iter().collect();
    triggers.sort_by_key(|trigger| !trigger.fired);
    Adapter {
        name: &gate.subject,
        partition: gate.partition.as_deref(),
        phases: gate
            .phases
            .iter()
            .map(|row| PhaseView {
                number: row.number,
                name: &row.name,
                result: row.result.to_string(),
                mark: marks::of_result(row.result),
                parts: phase(row),
                fired: &row.fired,
            })
            .collect(),
        triggers: triggers
            .into_iter()
            .map(|row| Trigger {
                id: &row.id,
                about: &row.about,
                source: &row.source,
                phase: row.phase,
                action: &row.action,
                because: &row.because,
                seen: row.seen.as_deref(),
                mark: marks::of_trigger(row),
            })
            .collect(),
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

/// All features, the worst first; in a feature the worst requirement first.
fn features<'a>(report: &'a Report, links: &[Vec<Link>]) -> Vec<Feature<'a>> {
    let mut known: BTreeMap<&str, &FeatureRow> = BTreeMap::new();
    let mut rows: BTreeMap<&str, BTreeMap<&str, &RequirementRow>> = BTreeMap::new();
    for gate in &report.gates {
        known.extend(gate.features.iter().map(|feature| (feature.name.as_str(), feature)));
        for row in &gate.requirements {
            rows.entry(&row.feature).or_default().entry(&row.id).or_insert(row);
        }
    }
    let worst = |id: &str| {
        let of = |gate: &Gate| gate.requirements.iter().find(|row| row.id == id).map(RequirementRow::worst);
        report.gates.iter().filter_map(of).max().unwrap_or(RequirementState::NotEvaluated)
    };
    let mut features: Vec<(RequirementState, Feature<'a>)> = Vec::new();
    for (name, of_feature) in rows {
        let mut of_feature: Vec<&RequirementRow> = of_feature.into_values().collect();
        of_feature.sort_by_key(|row| Reverse(worst(&row.id)));
        let requirements: Vec<Requirement<'a>> =
            of_feature.iter().map(|row| requirement(row, worst(&row.id), report, links)).collect();
        let first = of_feature.first().map_or(RequirementState::NotEvaluated, |row| worst(&row.id));
        let feature = known.get(name);
        features.push((
            first,
            Feature {
                name,
                title: feature.map_or(name, |feature| feature.title.as_str()),
                owner: feature.map_or("", |feature| feature.owner.as_str()),
                area: name.split('/').next().unwrap_or(name),
                requirements,
            },
        ));
    }
    features.sort_by_key(|(state, _)| Reverse(*state));
    features.into_iter().map(|(_, feature)| feature).collect()
}

fn requirement<'a>(
    row: &'a RequirementRow,
    worst: RequirementState,
    report: &Report,
    links: &[Vec<Link>],
) -> Requirement<'a> {
    let of_gates = || report.gates.iter().zip(links);
    let own = |gate: &'_ Gate| gate.requirements.iter().find(|other| other.id == row.id).cloned();
    let mut states = Vec::new();
    let mut proofs = Vec::new();
    for (gate, links) in of_gates() {
        let own = own(gate);
        for phase in &gate.phases {
            let state = own.as_ref().and_then(|own| own.states.get(&phase.number));
            states.push(state.map(|state| marks::of_state(*state)));
        }
        for proof in own.into_iter().flat_map(|own| own.cases) {
            let is = |cell: &super::Cell| cell.case == proof.case && cell.server == proof.server;
            let link = gate.cells.iter().position(is).and_then(|at| links.get(at)).cloned();
            // Its own mark: a cell may pass without proving this requirement.
            let link = link.map(|link| Link { mark: marks::of_verdict(proof.verdict), ..link });
            let label = match report.gates.len() {
                1 => proof.to_string(),
                _ => format!("{proof}, {}", gate.subject),
            };
            proofs.push(Proof { label, link });
        }
    }
    Requirement {
        id: &row.id,
        about: &row.about,
        source: &row.source,
        evidence: super::evidence_word(row.evidence),
        phase: row.phase,
        mvp: row.mvp,
        worst: marks::of_state(worst),
        marks: states,
        notes: super::notes(row, worst),
        proofs,
    }
}

fn gate_view<'a>(number: usize, gate: &'a Gate, links: &[Link], anchors: &mut Anchors) -> GateView<'a> {
    let servers = cells::servers(gate);
    let (mutants, mut groups) = cells::mutants(gate, anchors);
    groups.insert(0, cells::own_group(gate, links));
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
