//! What is known of the real servers, as questions that the recordings answer; `evidence/<question>.toml`, and
//! `plan.toml` for what the plan makes of it.
//!
//! No answer is prose: a claim is a sentence with a query, and holds as long as the recordings say so. The lines that
//! show it are named, and who alters one of them alters the answer.
//!
//! * [`fact`] — a recording as a list of facts.
//! * [`pattern`] — what a fact has to look like.
//! * [`claim`] — a sentence and its query.
//! * [`render`] — the page that people read, `docs/evidence.md`.

pub mod claim;
pub mod fact;
pub mod pattern;
mod places;
pub mod render;
#[cfg(test)]
mod tests;

use crate::requirement::{Evidence as Kind, Requirement, RequirementFile};
use claim::{Answer, Claim};
use fixtures::deviations::fits;
use fixtures::error::{FileError, parse_toml};
use fixtures::near_names::unknown;
use fixtures::{ServerKind, catalog};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// All questions, in the order of their files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evidence {
    /// What was unknown.
    pub questions: Vec<Question>,
    /// The requirements that rest on what the servers send.
    pub criteria: Vec<Criterion>,
    /// Where reality differs from the plan.
    pub differences: Vec<Difference>,
}

/// Something that somebody who plans a client has to know.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// As the plan numbers it.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// What the plan asks.
    pub asks: String,
    /// What the recordings answer.
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
}

/// A requirement that rests on what the servers send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// The requirement.
    pub id: String,
    /// What it says.
    pub says: String,
    /// From this phase on.
    pub phase: u32,
    /// Where in the plan.
    pub source: String,
    /// The claims that it rests on, as `question/claim`.
    pub rests_on: Vec<String>,
}

/// A place where the real servers are not as the plan has them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// What the plan says.
    pub plan: String,
    /// Where in the plan.
    pub source: String,
    /// How it is.
    pub reality: String,
    /// The claims that show it, as `question/claim`.
    pub shown_by: Vec<String>,
}

/// `plan.toml`: what a plan says, held against what is known.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// Where reality differs.
    #[serde(default, rename = "difference")]
    pub differences: Vec<Difference>,
}

impl From<Requirement> for Criterion {
    fn from(requirement: Requirement) -> Self {
        let Requirement { id, about, phase, claims, rests_on, .. } = requirement;
        Self { id, says: about, phase, source: claims.join("; "), rests_on }
    }
}

/// What the recordings answer: by claim, as `question/claim`, and server.
pub type Answers = BTreeMap<(String, ServerKind), Answer>;

impl Evidence {
    /// The questions that travel in the binary.
    pub fn embedded() -> Result<Self, FileError> {
        Self::read(&crate::data::texts())
    }

    /// Reads questions from files: path below `parity-specs/`, and text.
    pub fn read(files: &[(PathBuf, String)]) -> Result<Self, FileError> {
        let mut evidence = Self::default();
        let mut leads = Vec::new();
        let mut lines = BTreeMap::new();
        for (path, text) in files {
            let file = Path::new("parity-specs").join(path);
            if path == Path::new("plan.toml") {
                evidence.differences.extend(parse_toml::<PlanFile>(&file, text)?.differences);
                leads.extend(places::leads(&file, text)?);
            } else if path.starts_with("requirements") {
                let RequirementFile { requirements, .. } = parse_toml(&file, text)?;
                leads.extend(places::leads(&file, text)?);
                let resting = requirements.into_iter().filter(|it| it.evidence == Kind::DataOnly);
                evidence.criteria.extend(resting.map(Criterion::from));
            } else if path.starts_with("evidence") {
                let question: Question = parse_toml(&file, text)?;
                let mut ids = BTreeSet::new();
                for (claim, line) in question.claims.iter().zip(places::claims(&file, text)?) {
                    let mistake =
                        claim.mistake().or((!ids.insert(&claim.id)).then_some("it stands in two places"));
                    if let Some(mistake) = mistake {
                        return Err(FileError::at(
                            &file,
                            line,
                            format!("the claim '{}': {mistake}", claim.id),
                        ));
                    }
                    lines.insert(format!("{}/{}", question.id, claim.id), (file.clone(), line));
                }
                evidence.questions.push(question);
            }
        }
        evidence.check_names(&lines, &leads)?;
        Ok(evidence)
    }

    /// Every claim with its whole name.
    pub fn claims(&self) -> impl Iterator<Item = (String, &Claim)> {
        let of = |question: &Question, claim: &Claim| format!("{}/{}", question.id, claim.id);
        self.questions
            .iter()
            .flat_map(move |question| question.claims.iter().map(move |claim| (of(question, claim), claim)))
    }

    /// Asks all recordings of the pinned releases. `done` is told of each.
    pub fn ask(&self, mut done: impl FnMut()) -> Result<Answers, FileError> {
        let mut answers = Answers::new();
        for server in ServerKind::ALL {
            let release = server.release();
            for name in catalog::recording_names(&release) {
                let facts = fact::facts(&catalog::recording(&release, &name)?);
                for (id, claim) in self.claims().filter(|(_, claim)| claim.asks(server, &name)) {
                    answers.entry((id, server)).or_default().add(claim.ask(&name, &facts));
                }
                done();
            }
        }
        Ok(answers)
    }

    /// Do all of these claims hold?
    #[must_use]
    pub fn hold(&self, ids: &[String], answers: &Answers) -> bool {
        let holds = |wanted: &String| {
            self.claims().find(|(id, _)| id == wanted).is_some_and(|(id, claim)| claim.holds(&id, answers))
        };
        !ids.is_empty() && ids.iter().all(holds)
    }

    fn check_names(
        &self,
        lines: &BTreeMap<String, (PathBuf, usize)>,
        leads: &[places::Lead],
    ) -> Result<(), FileError> {
        for (id, claim) in self.claims() {
            for server in &claim.servers {
                let recordings = catalog::recording_names(&server.release());
                let is_there = |name: &String| recordings.iter().any(|known| fits(name, known));
                if let Some(name) = claim.recordings.iter().find(|name| !is_there(name)) {
                    let what = unknown(&format!("recording of {server}"), name, &recordings);
                    let message = format!("the claim '{id}': {what}");
                    return Err(match lines.get(&id) {
                        Some((file, line)) => FileError::at(file, *line, message),
                        None => FileError::whole("parity-specs/evidence", message),
                    });
                }
            }
        }
        let known: Vec<&String> = lines.keys().collect();
        match leads.iter().find(|lead| !lines.contains_key(&lead.claim)) {
            Some(lead) => {
                let message = format!("{}{}", lead.of, unknown("claim", &lead.claim, &known));
                Err(FileError::at(&lead.file, lead.line, message))
            }
            None => Ok(()),
        }
    }
}

impl Claim {
    /// What the recordings of each of its servers answered.
    pub fn answers<'a>(&self, id: &str, answers: &'a Answers) -> Vec<(ServerKind, Option<&'a Answer>)> {
        self.servers.iter().map(|server| (*server, answers.get(&(id.to_owned(), *server)))).collect()
    }

    /// Does it hold with all of its servers?
    #[must_use]
    pub fn holds(&self, id: &str, answers: &Answers) -> bool {
        self.answers(id, answers).iter().all(|(_, answer)| answer.is_some_and(Answer::holds))
    }
}
