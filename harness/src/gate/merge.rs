//! Reports of parts become one: the parts of an adapter are judged again as a whole, and adapters stand side by side.

use super::judging::{Ran, judge};
use super::signals::Known;
use crate::report::kit::KitGate;
use crate::report::{Cell, Gate, Report};
use fixtures::ServerKind;
use parity_specs::{Matrix, Phase};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Puts reports together.
///
/// # Errors
/// They do not belong together: a part is missing or there twice, or they are about other phases.
pub fn merge(matrix: &Matrix, reports: Vec<Report>, known: &Known) -> Result<Report, String> {
    let mut subjects: Vec<String> = Vec::new();
    let mut parts: Vec<Gate> = Vec::new();
    let mut gates: BTreeMap<String, Vec<Gate>> = BTreeMap::new();
    let mut kits: Vec<KitGate> = Vec::new();
    for report in reports {
        kits.extend(report.kits);
        parts.extend(report.gates);
    }
    for gate in parts {
        if !subjects.contains(&gate.subject) {
            subjects.push(gate.subject.clone());
        }
        gates.entry(gate.subject.clone()).or_default().push(gate);
    }
    let whole = |subject: &String| join(matrix, gates.remove(subject).unwrap_or_default(), known);
    Ok(Report::of(subjects.iter().map(whole).collect::<Result<_, _>>()?).with_kits(kits))
}

/// Were these reports written by this program, and is each cell of an adapter in one of them alone? They are told by their
/// files: a cell that is there twice would be counted twice, and who wrote a report decides what its words mean.
///
/// # Errors
/// They do not belong together; the error names the file.
pub fn belong_together(reports: &[(&Path, &Report)]) -> Result<(), String> {
    let ours = concat!("standin ", env!("CARGO_PKG_VERSION"));
    let mut seen: BTreeMap<(&str, &str, ServerKind), (&Path, Option<&str>)> = BTreeMap::new();
    for (file, report) in reports {
        if report.by != ours {
            let by = &report.by;
            return Err(format!(
                "{}: it was written by {by}, and this is {ours}: run all parts with one version, and merge them with it",
                file.display()
            ));
        }
        for gate in &report.gates {
            for cell in &gate.cells {
                let (case, server, partition) = (cell.case.as_str(), cell.server, gate.partition.as_deref());
                // The same part twice, and a part beside its whole, are told by their names.
                let first = seen.insert((&gate.subject, case, server), (file, partition));
                if let Some((first, _)) =
                    first.filter(|(_, of)| of.is_some() && *of != partition && partition.is_some())
                {
                    return Err(format!(
                        "{}: the cell {case} ({server}) of {} is in {}, too: parts have no cell in common; run them again \
                         with --partition, all of one number",
                        file.display(),
                        gate.subject,
                        first.display()
                    ));
                }
            }
        }
    }
    Ok(())
}

fn join(matrix: &Matrix, parts: Vec<Gate>, known: &Known) -> Result<Gate, String> {
    let mut ran = Ran::default();
    let mut numbers: Option<Vec<u32>> = None;
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for part in parts {
        let of_part: Vec<u32> = part.phases.iter().map(|phase| phase.number).collect();
        let first = numbers.get_or_insert_with(|| of_part.clone());
        let (subject, shown) = (&part.subject, part.partition.as_deref().unwrap_or("the whole"));
        if *first != of_part {
            return Err(format!(
                "of {subject}, one part is about phases {first:?} and {shown} about {of_part:?}"
            ));
        }
        if !seen.insert(shown.to_owned()) {
            return Err(format!("of {subject}, {shown} is there twice: give each report once"));
        }
        ran.subject.clone_from(&part.subject);
        ran.with_mutants |= part.with_mutants;
        ran.cells.extend(part.cells);
        for row in part.mutants {
            match ran.mutants.iter_mut().find(|known| known.name == row.name) {
                Some(known) => known.cells.extend(row.cells),
                None => ran.mutants.push(row),
            }
        }
    }
    complete(&ran.subject, &seen)?;
    let order: BTreeMap<&str, usize> =
        matrix.cases.iter().enumerate().map(|(at, named)| (named.name.as_str(), at)).collect();
    let place = |cell: &Cell| -> (Option<usize>, ServerKind) {
        (order.get(cell.case.as_str()).copied(), cell.server)
    };
    ran.cells.sort_by_key(place);
    ran.mutants.iter_mut().for_each(|row| row.cells.sort_by_key(place));
    // Each part runs a plain case of its own with every mutant; one is enough for the whole, and none does harm.
    let numbers = numbers.unwrap_or_default();
    let phases: Vec<Phase> =
        matrix.phases.iter().filter(|phase| numbers.contains(&phase.number)).cloned().collect();
    Ok(judge(matrix, &phases, ran, known))
}

/// Are these all parts, or the whole alone?
fn complete(subject: &str, seen: &BTreeSet<String>) -> Result<(), String> {
    let parts: Option<Vec<(usize, usize)>> = seen
        .iter()
        .map(|part| part.split_once('/').and_then(|(at, of)| Some((at.parse().ok()?, of.parse().ok()?))))
        .collect();
    let Some(parts) = parts else {
        return match seen.len() {
            1 => Ok(()),
            _ => Err(format!("of {subject}, there is the whole and a part of it: give one or the other")),
        };
    };
    let of: BTreeSet<usize> = parts.iter().map(|(_, of)| *of).collect();
    let [of] = of.iter().copied().collect::<Vec<_>>()[..] else {
        return Err(format!("of {subject}, there are parts of {of:?}: give all parts of one number"));
    };
    let missing: Vec<String> =
        (1..=of).filter(|at| !parts.contains(&(*at, of))).map(|at| format!("{at}/{of}")).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(format!("of {subject}, the part {} is missing", missing.join(", "))),
    }
}
