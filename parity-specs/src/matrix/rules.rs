//! What has to hold between the files of the matrix, once all of them were read.

use super::places::{CaseLines, Reading};
use super::{Matrix, NamedCase};
use crate::requirement::Evidence;
use crate::{Case, Debt};
use fixtures::catalog;
use fixtures::error::FileError;
use fixtures::near_names::unknown;
use fixtures::scenario::UserAct;
use std::collections::BTreeSet;

/// Waits can be shortened and stretched so far; with less, a server's heart would beat without a pause.
const TIME_SCALES: std::ops::RangeInclusive<f64> = 0.001..=1000.0;

/// Why this is no id of a requirement, if it is none.
pub(super) fn mistake_of_id(id: &str) -> Option<String> {
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_slug = |word: &str| word.split('-').all(|part| !part.is_empty() && part.chars().all(letters));
    let begins = id.starts_with(|c: char| c.is_ascii_lowercase());
    (!begins || !id.contains('.') || !id.split('.').all(is_slug))
        .then(|| format!("'{id}' is no id of a requirement: write it as area.slug, in small letters"))
}

impl Matrix {
    pub(super) fn check(&self, reading: &Reading) -> Result<(), FileError> {
        let scenarios = catalog::scenario_names();
        for named in &self.cases {
            let lines = reading.cases.get(&named.name).cloned().unwrap_or_default();
            self.check_case(named, &lines, &scenarios)?;
        }
        for (unperformed, line) in self.unperformed.iter().zip(&reading.unperformed) {
            if !scenarios.contains(&unperformed.scenario) {
                let message = unknown("scenario", &unperformed.scenario, &scenarios);
                return Err(FileError::at("parity-specs/debt.toml", *line, message));
            }
        }
        for (id, file, line) in &reading.requirements {
            self.know_requirement(id, |message| FileError::at(file, *line, message))?;
        }
        let mut owed = BTreeSet::new();
        for (debt, line) in self.debts.iter().zip(&reading.debts) {
            self.check_debt(debt, &mut owed)
                .map_err(|message| FileError::at("parity-specs/debt.toml", *line, message))?;
        }
        let phases: Vec<String> = self.phases.iter().map(|phase| phase.number.to_string()).collect();
        let unphased = reading.phase_of.iter().find(|named| !phases.contains(&named.number.to_string()));
        match unphased.filter(|_| !phases.is_empty()) {
            Some(named) => {
                let message = unknown("phase", &named.number.to_string(), &phases);
                Err(FileError::at(&named.file, named.line, message))
            }
            None => Ok(()),
        }
    }

    fn check_case(
        &self,
        NamedCase { name, case }: &NamedCase,
        lines: &CaseLines,
        scenarios: &[String],
    ) -> Result<(), FileError> {
        let file = format!("parity-specs/cases/{name}.toml");
        let at = |line: usize, message: String| FileError::at(&file, line, message);
        if !scenarios.contains(&case.scenario) {
            return Err(at(lines.scenario, unknown("scenario", &case.scenario, scenarios)));
        }
        if !TIME_SCALES.contains(&case.time_scale) {
            let (least, most) = (TIME_SCALES.start(), TIME_SCALES.end());
            let message = format!(
                "time_scale = {}: an adapter's waits are multiplied by it; write a number from {least} to {most}, 1 for \
                 waits as they are",
                case.time_scale
            );
            return Err(at(lines.time_scale, message));
        }
        let plans = catalog::fault_plan_names();
        if let Some(plan) = case.plan.as_ref().filter(|plan| !plans.contains(plan)) {
            return Err(at(lines.plan, unknown("plan of faults", plan, &plans)));
        }
        case.fault_plan()?;
        if let Some(step) = raw_request(case)? {
            let message = format!(
                "an adapter can't be asked for a raw request, and another client sends POSTs with JSON alone; here the \
                 person {step}: such a scenario is for the wire alone"
            );
            return Err(at(lines.scenario, message));
        }
        if case.proves.is_empty() {
            return Err(at(
                lines.proof,
                "a case proves at least one requirement: proves = [\"…\"]".to_owned(),
            ));
        }
        let mut proven = BTreeSet::new();
        for (id, line) in case.proves.iter().zip(&lines.proves) {
            self.know_requirement(id, |message| at(*line, message))?;
            if !proven.insert(id) {
                return Err(at(*line, format!("this case proves '{id}' already: name it once")));
            }
        }
        Ok(())
    }

    fn check_debt<'a>(&self, debt: &'a Debt, owed: &mut BTreeSet<&'a str>) -> Result<(), String> {
        let id = &debt.requirement;
        if !owed.insert(id) {
            return Err(format!("'{id}' is owed already: give it one entry, with all that is missing"));
        }
        match self.requirements.get(id).is_some_and(|it| it.evidence != Evidence::Checked) {
            true => {
                Err(format!("'{id}' would be shown by no check, so nothing is owed: take this entry out"))
            }
            false => Ok(()),
        }
    }

    /// Is every statement claimed, and all that is checked either proven or owed?
    pub(super) fn is_complete(&self, reading: &Reading) -> Result<(), FileError> {
        if let Some(ordinal) = self.unclaimed().first() {
            let headings = reading.headings.get(&ordinal.plan);
            let line = headings.and_then(|lines| lines.get(&ordinal.heading)).copied().unwrap_or(1);
            let file = format!("parity-specs/plans/{}/index.toml", ordinal.plan);
            let message = format!(
                "nothing claims {ordinal}: claim it in a requirement or a trigger, or say in none.toml why it asks for \
                 nothing; if the plan has no such statement, this heading counts too many"
            );
            return Err(FileError::at(file, line, message));
        }
        for (debt, line) in self.debts.iter().zip(&reading.debts) {
            if self.is_proven(&debt.requirement) {
                let id = &debt.requirement;
                let case = self.cases_for(id).next().map_or("a case", |named| &named.name);
                let message =
                    format!("'{id}' is proven by {case}, so it is owed no more: take this entry out");
                return Err(FileError::at("parity-specs/debt.toml", *line, message));
            }
        }
        for (id, requirement) in &self.requirements {
            let is_shown =
                requirement.evidence != Evidence::Checked || self.is_proven(id) || self.is_owed(id);
            if let Some((file, line)) = reading.defined.get(id).filter(|_| !is_shown) {
                let message = format!(
                    "'{id}' is checked, and no case proves it: give it a check and name it in the `proves` of a case, or \
                     enter it in debt.toml with what is missing"
                );
                return Err(FileError::at(file, *line, message));
            }
        }
        Ok(())
    }

    fn is_proven(&self, id: &str) -> bool {
        let has_check = self.requirements.get(id).is_some_and(|requirement| requirement.check.is_some());
        has_check && self.cases_for(id).next().is_some()
    }

    fn know_requirement(&self, id: &str, wrong: impl Fn(String) -> FileError) -> Result<(), FileError> {
        let known: Vec<&str> = self.requirements.keys().map(String::as_str).collect();
        if known.contains(&id) { Ok(()) } else { Err(wrong(unknown("requirement", id, &known))) }
    }
}

/// The step of a case's person that no adapter can be asked for.
fn raw_request(case: &Case) -> Result<Option<String>, FileError> {
    let user = match &case.user {
        Some(user) => user.clone(),
        None => catalog::scenario(&case.scenario)?.user,
    };
    let raw = |act: &UserAct| matches!(act, UserAct::Request(request) if !request.is_plain());
    Ok(user.steps.iter().find(|step| raw(&step.act)).map(ToString::to_string))
}
