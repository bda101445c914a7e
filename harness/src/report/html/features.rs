//! What became of the requirements, feature by feature, the worst first.

use super::cells::Link;
use super::marks::{self, Mark};
use crate::report::{self, Cell, FeatureRow, Gate, Report, RequirementRow, RequirementState};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A feature page or decision with its requirements, the worst first.
#[derive(Serialize)]
pub(super) struct Feature<'a> {
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
    /// Phase by phase; nothing where no adapter was asked for it in that phase.
    columns: Vec<Vec<State<'a>>>,
    notes: Vec<String>,
    proofs: Vec<Proof>,
}

/// What became of it with some adapters.
#[derive(Serialize)]
struct State<'a> {
    mark: Mark,
    who: Vec<&'a str>,
    numbers: Vec<usize>,
}

#[derive(Serialize)]
struct Proof {
    label: String,
    adapter: usize,
    link: Option<Link>,
}

/// The folder of a feature's page.
pub(super) fn area(feature: &str) -> &str {
    feature.split('/').next().unwrap_or(feature)
}

/// All features, the worst first; in a feature the worst requirement first.
pub(super) fn of<'a>(report: &'a Report, links: &[Vec<Link>]) -> Vec<Feature<'a>> {
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
                area: area(name),
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
    report: &'a Report,
    links: &[Vec<Link>],
) -> Requirement<'a> {
    let phases: BTreeSet<u32> =
        report.gates.iter().flat_map(|gate| &gate.phases).map(|phase| phase.number).collect();
    Requirement {
        id: &row.id,
        about: &row.about,
        source: &row.source,
        evidence: report::evidence_word(row.evidence),
        phase: row.phase,
        mvp: row.mvp,
        worst: marks::of_state(worst),
        columns: phases.into_iter().map(|phase| states(&row.id, phase, report)).collect(),
        notes: report::notes(row, worst),
        proofs: proofs(&row.id, report, links),
    }
}

/// What became of a requirement in a phase. Adapters of one state are named together, so that the worst stands where
/// the eye falls, however many adapters there are.
fn states<'a>(id: &str, phase: u32, report: &'a Report) -> Vec<State<'a>> {
    let mut of: BTreeMap<Reverse<RequirementState>, Vec<(usize, &'a str)>> = BTreeMap::new();
    for (number, gate) in report.gates.iter().enumerate() {
        let own = gate.requirements.iter().find(|row| row.id == id);
        if let Some(state) = own.and_then(|own| own.states.get(&phase)) {
            of.entry(Reverse(*state)).or_default().push((number + 1, &gate.subject));
        }
    }
    let state = |(Reverse(state), who): (_, Vec<(usize, &'a str)>)| {
        let (numbers, who) = who.into_iter().unzip();
        State { mark: marks::of_state(state), who, numbers }
    };
    of.into_iter().map(state).collect()
}

/// The cells that are to prove a requirement, of all adapters, the worst first.
fn proofs(id: &str, report: &Report, links: &[Vec<Link>]) -> Vec<Proof> {
    let mut proofs = Vec::new();
    for (number, (gate, links)) in report.gates.iter().zip(links).enumerate() {
        let own = gate.requirements.iter().find(|row| row.id == id);
        for proof in own.into_iter().flat_map(|own| &own.cases) {
            let is = |cell: &Cell| cell.case == proof.case && cell.server == proof.server;
            let link = gate.cells.iter().position(is).and_then(|at| links.get(at)).cloned();
            // Its own mark: a cell may pass without proving this requirement.
            let link = link.map(|link| Link { mark: marks::of_verdict(proof.verdict), ..link });
            let label = match report.gates.len() {
                1 => proof.to_string(),
                _ => format!("{proof}, {}", gate.subject),
            };
            proofs.push((proof.verdict, Proof { label, adapter: number + 1, link }));
        }
    }
    proofs.sort_by_key(|(verdict, _)| Reverse(*verdict));
    proofs.into_iter().map(|(_, proof)| proof).collect()
}
