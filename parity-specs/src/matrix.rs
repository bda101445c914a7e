//! The whole matrix, read and checked against itself: a name that leads nowhere is an error with its file.

use crate::case::{ADAPTER_LANE, Case, NamedCase};
use crate::data;
use crate::gate::{Debt, DebtFile, Phase, PhaseFile, Unperformed};
use crate::kit::{KitFile, KitRequirement};
use crate::ordinal::Ordinal;
use crate::plan::{self, Claimed, NoneFile, PlanIndex, line_of};
use crate::requirement::{Requirement, RequirementFile};
use crate::trigger::{Trigger, TriggerFile};
use fixtures::error::{FileError, parse_toml};
use fixtures::fault_plan::{Performed, Place, check_names};
use fixtures::near_names::unknown;
use fixtures::scenario::UserAct;
use fixtures::{ServerKind, catalog};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;

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
    /// The checks that requirements name. Which there are is known above this crate.
    pub checks: Vec<NamedCheck>,
}

/// A check that a requirement names, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedCheck {
    /// Its name.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The line in it, from 1.
    pub line: usize,
}

/// A file of requirements, without them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// What it is called.
    pub title: String,
    /// Who owns it after the migration.
    pub owner: String,
}

/// What of a file of requirements has a place that matters, of a kit's, too.
#[derive(Deserialize)]
struct RequirementPlaces {
    requirement: Vec<RequirementPlace>,
}

#[derive(Deserialize)]
struct RequirementPlace {
    id: Spanned<String>,
    check: Option<Spanned<String>>,
    #[serde(default)]
    claims: Vec<Spanned<String>>,
}

/// The same of triggers, of statements that ask for nothing, and of debts.
#[derive(Deserialize)]
struct OtherPlaces {
    #[serde(default, alias = "none", alias = "debt")]
    trigger: Vec<OtherPlace>,
}

#[derive(Deserialize)]
struct OtherPlace {
    #[serde(default)]
    claims: Vec<Spanned<String>>,
    #[serde(default)]
    watches: Vec<Spanned<String>>,
    requirement: Option<Spanned<String>>,
}

/// What of a case has a place that matters.
#[derive(Deserialize)]
struct CasePlaces {
    scenario: Spanned<String>,
    proves: Vec<Spanned<String>>,
}

impl Matrix {
    /// The matrix that travels in the binary.
    pub fn embedded() -> Result<Self, FileError> {
        Self::read(&data::texts())
    }

    /// Reads a matrix from files: path below `parity-specs/`, and text.
    pub fn read(files: &[(PathBuf, String)]) -> Result<Self, FileError> {
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
                    matrix.plans.insert(plan, parse_toml::<PlanIndex>(&file, text)?);
                } else {
                    parse_toml::<NoneFile>(&file, text)?;
                    reading.others(&file, text)?;
                }
            } else if path == Path::new("triggers.toml") {
                matrix.triggers = parse_toml::<TriggerFile>(&file, text)?.triggers;
                reading.others(&file, text)?;
            } else if path == Path::new("phases.toml") {
                matrix.phases = parse_toml::<PhaseFile>(&file, text)?.phases;
            } else if path == Path::new("debt.toml") {
                DebtFile { debts: matrix.debts, unperformed: matrix.unperformed } = parse_toml(&file, text)?;
                reading.others(&file, text)?;
            }
        }
        matrix.cases.sort_by(|a, b| a.name.cmp(&b.name));
        matrix.claims = plan::hold_claims(&matrix.plans, &reading.claims)?;
        matrix.check(&reading)?;
        Ok(matrix)
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
            if let Some(mistake) = requirement.mistake() {
                return Err(at(format!("the requirement '{id}': {mistake}")));
            }
            if let Some(first) = self.requirements.get(&id) {
                let first = &first.feature;
                return Err(at(format!("the requirement '{id}' stands in two places; first in {first}")));
            }
            if let Some(check) = &place.check {
                let (name, line) = (check.get_ref().clone(), line_of(text, check));
                self.checks.push(NamedCheck { name, file: file.to_path_buf(), line });
            }
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
        let lines = CaseLines {
            scenario: line_of(text, &places.scenario),
            proves: places.proves.iter().map(|id| line_of(text, id)).collect(),
        };
        reading.cases.insert(name.clone(), lines);
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

    fn check(&self, reading: &Reading) -> Result<(), FileError> {
        let scenarios = catalog::scenario_names();
        for NamedCase { name, case } in &self.cases {
            let file = format!("parity-specs/cases/{name}.toml");
            let lines = reading.cases.get(name).cloned().unwrap_or_default();
            if !scenarios.contains(&case.scenario) {
                let message = unknown("scenario", &case.scenario, &scenarios);
                return Err(FileError::at(file, lines.scenario, message));
            }
            case.fault_plan()?;
            let user = match &case.user {
                Some(user) => user.clone(),
                None => catalog::scenario(&case.scenario)?.user,
            };
            if let Some(step) = user
                .steps
                .iter()
                .find(|step| matches!(&step.act, UserAct::Request(request) if !request.is_plain()))
            {
                let message = format!(
                    "an adapter can't be asked for a raw request, and another client sends POSTs with JSON alone; here the \
                     person {step}: such a scenario is for \
                     the wire alone"
                );
                return Err(FileError::whole(file, message));
            }
            if case.proves.is_empty() {
                return Err(FileError::whole(
                    file,
                    "a case proves at least one requirement: proves = [\"…\"]",
                ));
            }
            for (id, line) in case.proves.iter().zip(&lines.proves) {
                self.know_requirement(id, |message| FileError::at(&file, *line, message))?;
            }
        }
        for Unperformed { scenario, .. } in &self.unperformed {
            if !scenarios.contains(scenario) {
                let message = unknown("scenario", scenario, &scenarios);
                return Err(FileError::whole("parity-specs/debt.toml", message));
            }
        }
        for (id, file, line) in &reading.requirements {
            self.know_requirement(id, |message| FileError::at(file, *line, message))?;
        }
        Ok(())
    }

    fn know_requirement(&self, id: &str, wrong: impl Fn(String) -> FileError) -> Result<(), FileError> {
        let known: Vec<&str> = self.requirements.keys().map(String::as_str).collect();
        if known.contains(&id) { Ok(()) } else { Err(wrong(unknown("requirement", id, &known))) }
    }
}

/// What is known of the files while they are read.
#[derive(Debug, Default)]
struct Reading {
    claims: Vec<Claimed>,
    /// What triggers watch and what is owed.
    requirements: Vec<(String, PathBuf, usize)>,
    cases: BTreeMap<String, CaseLines>,
}

/// Where in its file a case says what.
#[derive(Debug, Clone, Default)]
struct CaseLines {
    scenario: usize,
    proves: Vec<usize>,
}

impl Reading {
    fn others(&mut self, file: &Path, text: &str) -> Result<(), FileError> {
        let places: OtherPlaces = parse_toml(file, text)?;
        for OtherPlace { claims, watches, requirement } in places.trigger {
            self.claims.extend(plan::with_lines(claims, file, text));
            for id in watches.into_iter().chain(requirement) {
                let line = line_of(text, &id);
                self.requirements.push((id.into_inner(), file.to_path_buf(), line));
            }
        }
        Ok(())
    }
}

/// A file's name in the matrix: its path without the ending.
fn name_of(inner: &Path) -> String {
    let name = inner.with_extension("");
    name.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests;
