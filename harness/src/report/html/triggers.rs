//! The rollback triggers: one row each, with all adapters side by side in it.

use super::cells::Link;
use super::marks::{self, Mark};
use crate::report::{Report, TriggerRow, because};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Trigger<'a> {
    id: &'a str,
    about: &'a str,
    source: &'a str,
    phase: u32,
    action: &'a str,
    #[serde(skip)]
    fired: bool,
    of: Vec<Of<'a>>,
}

/// What it does with an adapter.
#[derive(Serialize)]
struct Of<'a> {
    adapter: &'a str,
    number: usize,
    mark: Mark,
    because: Vec<Why>,
    untold: &'a [String],
    seen: Option<&'a str>,
}

#[derive(Serialize)]
struct Why {
    claim: String,
    first: Vec<Place>,
    rest: Vec<Place>,
}

/// A cell that is named; it may be part of another report.
#[derive(Serialize)]
struct Place {
    label: String,
    anchor: Option<String>,
}

/// All triggers, those that fire first.
pub(super) fn of<'a>(report: &'a Report, links: &[Vec<Link>]) -> Vec<Trigger<'a>> {
    let mut triggers: Vec<Trigger<'a>> = Vec::new();
    for row in report.gates.iter().flat_map(|gate| &gate.triggers) {
        if triggers.iter().all(|known| known.id != row.id) {
            triggers.push(trigger(row, report, links));
        }
    }
    triggers.sort_by_key(|trigger| !trigger.fired);
    triggers
}

fn trigger<'a>(row: &'a TriggerRow, report: &'a Report, links: &[Vec<Link>]) -> Trigger<'a> {
    let mut fired = false;
    let mut of = Vec::new();
    for (number, (gate, links)) in report.gates.iter().zip(links).enumerate() {
        let Some(own) = gate.triggers.iter().find(|own| own.id == row.id) else { continue };
        fired |= own.fired;
        let place = |label: &&str| {
            let link = links.iter().find(|link| format!("{} ({})", link.case, link.server) == **label);
            Place { label: (*label).to_owned(), anchor: link.map(|link| link.anchor.clone()) }
        };
        let why = |text: &String| {
            let because = because::read(text, gate);
            let [first, rest] = [&because.first, &because.rest].map(|all| all.iter().map(place).collect());
            Why { claim: because.claim, first, rest }
        };
        of.push((
            !own.fired,
            Of {
                adapter: &gate.subject,
                number: number + 1,
                mark: marks::of_trigger(own),
                because: own.because.iter().map(why).collect(),
                untold: &own.untold,
                seen: own.seen.as_deref(),
            },
        ));
    }
    of.sort_by_key(|(quiet, _)| *quiet);
    Trigger {
        id: &row.id,
        about: &row.about,
        source: &row.source,
        phase: row.phase,
        action: &row.action,
        fired,
        of: of.into_iter().map(|(_, of)| of).collect(),
    }
}
