//! Where in its file a thing stands. A mistake in the matrix is told with its line, so the lines are kept until all of it
//! was read.

use super::{Named, Outside};
use crate::plan::{self, Claimed, line_of};
use fixtures::error::{FileError, parse_toml};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// What of a file of requirements has a place that matters, of a kit's, too.
#[derive(Deserialize)]
pub(super) struct RequirementPlaces {
    pub(super) requirement: Vec<RequirementPlace>,
}

#[derive(Deserialize)]
pub(super) struct RequirementPlace {
    pub(super) id: Spanned<String>,
    pub(super) check: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) claims: Vec<Spanned<String>>,
    /// A kit's have none.
    pub(super) phase: Option<Spanned<u32>>,
}

/// The same of triggers, of statements that ask for nothing, and of debts.
#[derive(Deserialize)]
struct OtherPlaces {
    #[serde(default, alias = "none", alias = "debt")]
    trigger: Vec<OtherPlace>,
    #[serde(default)]
    unperformed: Vec<UnperformedPlace>,
}

#[derive(Deserialize)]
struct OtherPlace {
    id: Option<Spanned<String>>,
    phase: Option<Spanned<u32>>,
    #[serde(default)]
    claims: Vec<Spanned<String>>,
    #[serde(default)]
    watches: Vec<Spanned<String>>,
    requirement: Option<Spanned<String>>,
    signal: Option<SignalPlace>,
}

#[derive(Deserialize)]
struct SignalPlace {
    name: Spanned<String>,
}

#[derive(Deserialize)]
struct UnperformedPlace {
    scenario: Spanned<String>,
}

/// What of a case has a place that matters.
#[derive(Deserialize)]
pub(super) struct CasePlaces {
    scenario: Spanned<String>,
    proves: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    pub(super) catches: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) needs: Vec<Spanned<String>>,
    plan: Option<Spanned<String>>,
    time_scale: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
struct PhasePlaces {
    phase: Vec<PhasePlace>,
}

#[derive(Deserialize)]
struct PhasePlace {
    number: Spanned<u32>,
    #[serde(default)]
    adds: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
struct IndexPlaces {
    #[serde(default)]
    heading: Vec<HeadingPlace>,
}

#[derive(Deserialize)]
struct HeadingPlace {
    id: Spanned<String>,
}

/// What is known of the files while they are read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) claims: Vec<Claimed>,
    /// What triggers watch and what is owed.
    pub(super) requirements: Vec<(String, PathBuf, usize)>,
    /// The line of each debt, in their order.
    pub(super) debts: Vec<usize>,
    /// The line of each scenario that can't be performed, in their order.
    pub(super) unperformed: Vec<usize>,
    pub(super) cases: BTreeMap<String, CaseLines>,
    /// Where each requirement stands.
    pub(super) defined: BTreeMap<String, (PathBuf, usize)>,
    /// Which phases requirements and triggers name.
    pub(super) phase_of: Vec<PhaseOf>,
    /// The line of each heading, by plan.
    pub(super) headings: BTreeMap<String, BTreeMap<String, usize>>,
}

/// A phase that somebody names, and where.
#[derive(Debug)]
pub(super) struct PhaseOf {
    pub(super) number: u32,
    pub(super) file: PathBuf,
    pub(super) line: usize,
}

/// Where in its file a case says what.
#[derive(Debug, Clone, Default)]
pub(super) struct CaseLines {
    pub(super) scenario: usize,
    /// Of the list.
    pub(super) proof: usize,
    /// Of each in it.
    pub(super) proves: Vec<usize>,
    pub(super) plan: usize,
    pub(super) time_scale: usize,
}

impl CaseLines {
    pub(super) fn of(places: &CasePlaces, text: &str) -> Self {
        Self {
            scenario: line_of(text, &places.scenario),
            proof: line_of(text, &places.proves),
            proves: places.proves.get_ref().iter().map(|id| line_of(text, id)).collect(),
            plan: places.plan.as_ref().map_or(1, |plan| line_of(text, plan)),
            time_scale: places.time_scale.as_ref().map_or(1, |scale| line_of(text, scale)),
        }
    }
}

impl PhaseOf {
    pub(super) fn of(phase: Option<&Spanned<u32>>, file: &Path, text: &str) -> Option<Self> {
        let phase = phase?;
        Some(Self { number: *phase.get_ref(), file: file.to_path_buf(), line: line_of(text, phase) })
    }
}

impl Reading {
    pub(super) fn others(&mut self, file: &Path, text: &str) -> Result<(), FileError> {
        let places: OtherPlaces = parse_toml(file, text)?;
        let mut ids: BTreeMap<String, usize> = BTreeMap::new();
        for OtherPlace { id, phase, claims, watches, requirement, .. } in places.trigger {
            if let Some(id) = id {
                let line = line_of(text, &id);
                if let Some(first) = ids.insert(id.get_ref().clone(), line) {
                    let message = format!(
                        "the trigger '{}' stands twice, first in line {first}: name one of them otherwise",
                        id.get_ref()
                    );
                    return Err(FileError::at(file, line, message));
                }
            }
            self.phase_of.extend(PhaseOf::of(phase.as_ref(), file, text));
            self.claims.extend(plan::with_lines(claims, file, text));
            self.debts.extend(requirement.iter().map(|id| line_of(text, id)));
            for id in watches.into_iter().chain(requirement) {
                let line = line_of(text, &id);
                self.requirements.push((id.into_inner(), file.to_path_buf(), line));
            }
        }
        self.unperformed.extend(places.unperformed.iter().map(|entry| line_of(text, &entry.scenario)));
        Ok(())
    }

    /// The phases, each behind the one before it; and what they add.
    pub(super) fn phases(&mut self, file: &Path, text: &str) -> Result<Vec<Named>, FileError> {
        let places: PhasePlaces = parse_toml(file, text)?;
        let mut last: Option<u32> = None;
        for PhasePlace { number, .. } in &places.phase {
            let this = *number.get_ref();
            if let Some(last) = last.filter(|last| this <= *last) {
                let message = format!(
                    "phase {this} stands behind phase {last}: each phase has a number of its own, and they stand in order"
                );
                return Err(FileError::at(file, line_of(text, number), message));
            }
            last = Some(this);
        }
        let added = places.phase.iter().flat_map(|phase| &phase.adds);
        Ok(added.map(|word| named(Outside::Capability, word, file, text)).collect())
    }

    /// The headings of a plan, each once.
    pub(super) fn index(&mut self, plan: String, file: &Path, text: &str) -> Result<(), FileError> {
        let places: IndexPlaces = parse_toml(file, text)?;
        let lines = self.headings.entry(plan).or_default();
        for HeadingPlace { id } in places.heading {
            let line = line_of(text, &id);
            if let Some(first) = lines.insert(id.get_ref().clone(), line) {
                let message = format!(
                    "the heading '{}' stands twice, first in line {first}: give one of them another id, by which claims \
                     name it",
                    id.get_ref()
                );
                return Err(FileError::at(file, line, message));
            }
        }
        Ok(())
    }
}

/// What triggers measure.
pub(super) fn signals(file: &Path, text: &str) -> Result<Vec<Named>, FileError> {
    let places: OtherPlaces = parse_toml(file, text)?;
    let names = places.trigger.iter().filter_map(|trigger| trigger.signal.as_ref());
    Ok(names.map(|signal| named(Outside::Signal, &signal.name, file, text)).collect())
}

/// A name with its place.
pub(super) fn named(what: Outside, name: &Spanned<String>, file: &Path, text: &str) -> Named {
    Named { what, name: name.get_ref().clone(), file: file.to_path_buf(), line: line_of(text, name) }
}
