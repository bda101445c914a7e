//! The whole matrix, read and checked against itself: a name that leads nowhere is an error with its file.

use crate::case::{ADAPTER_LANE, Case, NamedCase};
use crate::data;
use crate::evidence::Evidence;
use crate::gate::{Debt, DebtFile, Phase, PhaseFile, Unperformed};
use crate::kit::{KitFile, KitRequirement};
use crate::ordinal::Ordinal;
use crate::plan::{self, Claimed, NoneFile, PlanIndex, line_of};
use crate::requirement::{Requirement, RequirementFile};
use crate::trigger::{Trigger, TriggerFile};
use fixtures::ServerKind;
use fixtures::error::{FileError, parse_toml};
use fixtures::fault_plan::{Performed, Place, check_names};
use places::{CaseLines, CasePlaces, Reading, RequirementPlaces};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;

mod places;
mod rules;

/// The matrix.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    /// By id.
    pub requirements: BTreeMap<String, Requirement>,
    /// Sorted by name.
    pub cases: Vec<NamedCase>,
    /// In order.
    pub phases: Vec<Phase>,
    /// What sends users back.
    pub triggers: Vec<Trigger>,
    /// The headings of each plan.
    pub plans: BTreeMap<String, PlanIndex>,
    /// By kit: what it asks for, in the order of its files.
    pub kits: BTreeMap<String, Vec<KitRequirement>>,
    /// By path: what each feature is called.
    pub features: BTreeMap<String, Feature>,
    /// Who claims which statement of a plan.
    claims: BTreeMap<Ordinal, Claimed>,
    /// What is owed.
    pub debts: Vec<Debt>,
    /// What the stand-in's world can't perform yet.
    pub unperformed: Vec<Unperformed>,
    /// The names that lead out of this crate. Which there are is known above it.
    pub named: Vec<Named>,
}

/// A name of something that is known above this crate, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// What it names.
    pub what: Outside,
    /// The name.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The line in it, from 1.
    pub line: usize,
}

/// What the matrix names and does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// A requirement's `check`.
    Check,
    /// What a case `catches`.
    Mutant,
    /// What a case `needs`, and what a phase `adds`.
    Capability,
    /// What a trigger measures.
    Signal,
}

/// A file of requirements, without them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// What it is called.
    pub title: String,
    /// Who owns it after the migration.
    pub owner: String,
}

impl Matrix {
    /// The matrix that travels in the binary.
    pub fn embedded() -> Result<Self, FileError> {
        Self::whole(&data::texts())
    }

    /// Reads a matrix that has to be complete, with its evidence: every statement is claimed, and what is checked is
    /// proven or owed.
    pub fn whole(files: &[(PathBuf, String)]) -> Result<Self, FileError> {
        let (matrix, reading) = Self::read_with_places(files)?;
        Evidence::read(files)?;
        matrix.is_complete(&reading)?;
        Ok(matrix)
    }

    /// Reads a matrix from files: path below `parity-specs/`, and text. It need not be complete.
    pub fn read(files: &[(PathBuf, String)]) -> Result<Self, FileError> {
        Ok(Self::read_with_places(files)?.0)
    }

    fn read_with_places(files: &[(PathBuf, String)]) -> Result<(Self, Reading), FileError> {
        let mut matrix = Self::default();
        let mut reading = Reading::default();
        for (path, text) in files {
            let file = Path::new("parity-specs").join(path);
            if let Ok(inner) = path.strip_prefix("requirements") {
                matrix.read_requirements(&file, &name_of(inner), text, &mut reading)?;
            } else if let Ok(inner) = path.strip_prefix("cases") {
                matrix.read_case(&file, name_of(inner), text, &mut reading)?;
            } else if let Ok(inner) = path.strip_prefix("kits") {
                let kit = inner.parent().unwrap_or(inner).to_string_lossy().into_owned();
                matrix.read_kit(&file, &kit, text, &mut reading)?;
            } else if let Ok(inner) = path.strip_prefix("plans") {
                let plan = inner.parent().unwrap_or(inner).to_string_lossy().into_owned();
                if inner.ends_with("index.toml") {
                    matrix.plans.insert(plan.clone(), parse_toml::<PlanIndex>(&file, text)?);
                    reading.index(plan, &file, text)?;
                } else {
                    parse_toml::<NoneFile>(&file, text)?;
                    reading.others(&file, text)?;
                }
            } else if path == Path::new("triggers.toml") {
                matrix.triggers = parse_toml::<TriggerFile>(&file, text)?.triggers;
                matrix.named.extend(places::signals(&file, text)?);
                reading.others(&file, text)?;
            } else if path == Path::new("phases.toml") {
                matrix.phases = parse_toml::<PhaseFile>(&file, text)?.phases;
                matrix.named.extend(reading.phases(&file, text)?);
            } else if path == Path::new("debt.toml") {
                DebtFile { debts: matrix.debts, unperformed: matrix.unperformed } = parse_toml(&file, text)?;
                reading.others(&file, text)?;
            }
        }
        matrix.cases.sort_by(|a, b| a.name.cmp(&b.name));
        matrix.claims = plan::hold_claims(&matrix.plans, &reading.claims)?;
        matrix.check(&reading)?;
        Ok((matrix, reading))
    }

    fn read_requirements(
        &mut self,
        file: &Path,
        feature: &str,
        text: &str,
        reading: &mut Reading,
    ) -> Result<(), FileError> {
        let RequirementFile { title, owner, requirements } = parse_toml(file, text)?;
        let places: RequirementPlaces = parse_toml(file, text)?;
        self.features.insert(feature.to_owned(), Feature { title, owner });
        for (requirement, place) in requirements.into_iter().zip(places.requirement) {
            let at = |message: String| FileError::at(file, line_of(text, &place.id), message);
            let id = requirement.id.clone();
            if let Some(mistake) = rules::mistake_of_id(&id) {
                return Err(at(mistake));
            }
            if let Some(mistake) = requirement.mistake() {
                return Err(at(format!("the requirement '{id}': {mistake}")));
            }
            if let Some(first) = self.requirements.get(&id) {
                let first = &first.feature;
                return Err(at(format!("the requirement '{id}' stands in two places; first in {first}")));
            }
            if let Some(check) = &place.check {
                self.named.push(places::named(Outside::Check, check, file, text));
            }
            reading.phase_of.extend(places::PhaseOf::of(place.phase.as_ref(), file, text));
            reading.defined.insert(id.clone(), (file.to_path_buf(), line_of(text, &place.id)));
            reading.claims.extend(plan::with_lines(place.claims, file, text));
            self.requirements.insert(id, Requirement { feature: feature.to_owned(), ..requirement });
        }
        Ok(())
    }

    fn read_kit(
        &mut self,
        file: &Path,
        kit: &str,
        text: &str,
        reading: &mut Reading,
    ) -> Result<(), FileError> {
        let KitFile { title, requirements } = parse_toml(file, text)?;
        let places: RequirementPlaces = parse_toml(file, text)?;
        for (requirement, place) in requirements.into_iter().zip(places.requirement) {
            let at = |message: String| FileError::at(file, line_of(text, &place.id), message);
            let id = &requirement.id;
            if let Some(mistake) = requirement.mistake(kit) {
                return Err(at(format!("the requirement '{id}': {mistake}")));
            }
            let known = self.kits.entry(kit.to_owned()).or_default();
            if known.iter().any(|known| known.id == *id) {
                return Err(at(format!("the requirement '{id}' stands in two places of the kit {kit}")));
            }
            reading.claims.extend(plan::with_lines(place.claims, file, text));
            known.push(KitRequirement { feature: title.clone(), ..requirement });
        }
        Ok(())
    }

    fn read_case(
        &mut self,
        file: &Path,
        name: String,
        text: &str,
        reading: &mut Reading,
    ) -> Result<(), FileError> {
        let case: Case = parse_toml(file, text)?;
        let places: CasePlaces = parse_toml(file, text)?;
        let releases: Vec<String> = case.servers.iter().map(|server| server.release()).collect();
        let more_lanes = "a case has no other";
        let (lanes, performed) = (&[ADAPTER_LANE], &[Performed::Library]);
        check_names(file, text, &Place { lanes, more_lanes, releases: &releases, performed })?;
        let named = |what, names: &[Spanned<String>]| -> Vec<Named> {
            names.iter().map(|name| places::named(what, name, file, text)).collect()
        };
        self.named.extend(named(Outside::Mutant, &places.catches));
        self.named.extend(named(Outside::Capability, &places.needs));
        reading.cases.insert(name.clone(), CaseLines::of(&places, text));
        self.cases.push(NamedCase { name, case });
        Ok(())
    }

    /// The statements of the plans that nothing claims.
    #[must_use]
    pub fn unclaimed(&self) -> Vec<Ordinal> {
        plan::statements(&self.plans).filter(|ordinal| !self.claims.contains_key(ordinal)).collect()
    }

    /// The cases that prove a requirement.
    pub fn cases_for<'a>(&'a self, requirement: &'a str) -> impl Iterator<Item = &'a NamedCase> {
        self.cases.iter().filter(move |named| named.case.proves.iter().any(|id| id == requirement))
    }

    /// Why the world can't perform a scenario of a server yet; `None` when it must.
    #[must_use]
    pub fn unperformed(&self, scenario: &str, server: ServerKind) -> Option<&str> {
        let entry = self
            .unperformed
            .iter()
            .find(|entry| entry.scenario == scenario && entry.servers.contains(&server))?;
        Some(&entry.reason)
    }

    /// Is this requirement owed?
    #[must_use]
    pub fn is_owed(&self, requirement: &str) -> bool {
        self.debts.iter().any(|debt| debt.requirement == requirement)
    }
}

/// A file's name in the matrix: its path without the ending.
fn name_of(inner: &Path) -> String {
    let name = inner.with_extension("");
    name.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests;
