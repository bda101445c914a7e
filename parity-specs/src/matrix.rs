//! The whole matrix, read and checked against itself: a name that leads nowhere is an error with its file.

use crate::case::{ADAPTER_LANE, Case, NamedCase};
use crate::data;
use crate::gate::{Debt, DebtFile, Phase, PhaseFile, Trigger, Unperformed};
use crate::requirement::{Requirement, RequirementFile};
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
    /// What ends a rollout, whatever its phase.
    pub triggers: Vec<Trigger>,
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

/// What of a file of requirements has a place that matters.
#[derive(Deserialize)]
struct Places {
    #[serde(default)]
    requirement: Vec<CheckPlace>,
}

#[derive(Deserialize)]
struct CheckPlace {
    check: Option<Spanned<String>>,
}

impl Matrix {
    /// The matrix that travels in the binary.
    pub fn embedded() -> Result<Self, FileError> {
        Self::read(&data::texts())
    }

    /// Reads a matrix from files: path below `parity-specs/`, and text.
    pub fn read(files: &[(PathBuf, String)]) -> Result<Self, FileError> {
        let mut matrix = Self::default();
        let shown = |path: &Path| Path::new("parity-specs").join(path);
        for (path, text) in files {
            let file = shown(path);
            if path.starts_with("requirements") {
                let read: RequirementFile = parse_toml(&file, text)?;
                let places: Places = parse_toml(&file, text)?;
                for check in places.requirement.into_iter().filter_map(|place| place.check) {
                    let line = text[..check.span().start].matches('\n').count() + 1;
                    matrix.checks.push(NamedCheck { name: check.into_inner(), file: file.clone(), line });
                }
                for requirement in read.requirements {
                    let id = requirement.id.clone();
                    if matrix.requirements.insert(id.clone(), requirement).is_some() {
                        return Err(FileError::whole(
                            &file,
                            format!("the requirement '{id}' stands in two places"),
                        ));
                    }
                }
            } else if let Ok(inner) = path.strip_prefix("cases") {
                let case: Case = parse_toml(&file, text)?;
                let releases: Vec<String> = case.servers.iter().map(|server| server.release()).collect();
                let more_lanes = "a case has no other";
                let (lanes, performed) = (&[ADAPTER_LANE], &[Performed::Library]);
                check_names(&file, text, &Place { lanes, more_lanes, releases: &releases, performed })?;
                let name: Vec<_> =
                    inner.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
                matrix.cases.push(NamedCase { name: name.join("/"), case });
            } else if path == Path::new("phases.toml") {
                PhaseFile { phases: matrix.phases, triggers: matrix.triggers } = parse_toml(&file, text)?;
            } else if path == Path::new("debt.toml") {
                DebtFile { debts: matrix.debts, unperformed: matrix.unperformed } = parse_toml(&file, text)?;
            }
        }
        matrix.cases.sort_by(|a, b| a.name.cmp(&b.name));
        matrix.check()?;
        Ok(matrix)
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

    fn check(&self) -> Result<(), FileError> {
        let scenarios = catalog::scenario_names();
        for NamedCase { name, case } in &self.cases {
            let file = format!("parity-specs/cases/{name}.toml");
            if !scenarios.contains(&case.scenario) {
                let known = scenarios.join(", ");
                let message = format!("there is no scenario '{}'; there are: {known}", case.scenario);
                return Err(FileError::whole(file, message));
            }
            case.fault_plan()?;
            let user = match &case.user {
                Some(user) => user.clone(),
                None => catalog::scenario(&case.scenario)?.user,
            };
            if let Some(step) = user.steps.iter().find(|step| matches!(step.act, UserAct::Request(_))) {
                let message = format!(
                    "an adapter can't be asked for a raw request, and here the person {step}: such a scenario is for \
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
            if let Some(unknown) = case.proves.iter().find(|id| !self.requirements.contains_key(*id)) {
                let known: Vec<&str> = self.requirements.keys().map(String::as_str).collect();
                let message = format!("there is no requirement '{unknown}'; there are: {}", known.join(", "));
                return Err(FileError::whole(file, message));
            }
        }
        for Unperformed { scenario, .. } in &self.unperformed {
            if !scenarios.contains(scenario) {
                let message = unknown("scenario", scenario, &scenarios);
                return Err(FileError::whole("parity-specs/debt.toml", message));
            }
        }
        for debt in &self.debts {
            if !self.requirements.contains_key(&debt.requirement) {
                let message = format!("there is no requirement '{}': delete the debt", debt.requirement);
                return Err(FileError::whole("parity-specs/debt.toml", message));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_in_the_repository_holds_together() {
        let matrix = Matrix::embedded().unwrap();
        assert!(matrix.cases.iter().any(|named| named.name == "reconnect/cut-in-mid-turn"));
        for (id, requirement) in &matrix.requirements {
            let proven = requirement.check.is_some() && matrix.cases_for(id).next().is_some();
            assert!(proven != matrix.is_owed(id), "{id} is proven by a case or owed, never both");
        }
    }

    #[test]
    fn names_that_lead_nowhere_are_found() {
        let requirement = (
            "requirements/a.toml",
            "title = \"A\"\nowner = \"o\"\n[[requirement]]\nid = \"a.b\"\nabout = \"x\"\nsource = \"s\"\nphase = 2\nmvp = true\nevidence = \"checked\"\n",
        );
        let read = |files: &[(&str, &str)]| {
            let files: Vec<_> =
                files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
            Matrix::read(&files).unwrap_err().to_string()
        };
        let case = |text: &'static str| [requirement, ("cases/x/y.toml", text)];
        // It lists all scenarios, and new ones come every week.
        let unknown_scenario = read(&case("about = \"x\"\nscenario = \"no/such\"\nproves = [\"a.b\"]\n"));
        let expected = "parity-specs/cases/x/y.toml: there is no scenario 'no/such'; there are: ";
        assert!(unknown_scenario.starts_with(expected), "{unknown_scenario}");
        insta::assert_snapshot!(
            [
                read(&case(
                    "about = \"x\"\nscenario = \"permission/write-allowed-once\"\nproves = [\"a.c\"]\n"
                )),
                read(&case("about = \"x\"\nscenario = \"permission/write-allowed-once\"\nproves = []\n")),
                read(&case(
                    "about = \"x\"\nscenario = \"text/plain\"\nproves = [\"a.b\"]\n[user]\nsteps = [{ request = \"GET /path\" }]\n"
                )),
                read(&case("about = \"x\"\nscenario = \"permission/write-allowed-once\"\nprove = []\n")),
                read(&case(
                    "about = \"x\"\nscenario = \"text/plain\"\nproves = [\"a.b\"]\n[[fault]]\nwhen = { lane = \"adaptor\", stream = \"event\", after_events = 1 }\ndo = { cut = \"between-frames\" }\n"
                )),
                read(&case(
                    "about = \"x\"\nscenario = \"text/plain\"\nproves = [\"a.b\"]\n[[fault]]\nwhen = { stream = \"event\", after_event = \"session.idel\" }\ndo = { cut = \"between-frames\" }\n"
                )),
                read(&[requirement, ("debt.toml", "[[debt]]\nrequirement = \"a.c\"\nreason = \"r\"\n")]),
                read(&[requirement, ("requirements/b.toml", requirement.1)]),
            ]
            .join("\n\n")
        );
    }
}
