//! What must hold, where the plan says so, and what kind of evidence shows it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;

/// The plan's principles of degradation.
const PRINCIPLES: RangeInclusive<u32> = 1..=5;
/// The plan's decisions: it has no text of a first one.
const DECISIONS: RangeInclusive<u32> = 2..=8;
/// The phase by which nothing may be missing any more.
const ALL_IS_THERE: u32 = 4;

/// A file of requirements. Its path below `requirements/` is the name of the feature.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequirementFile {
    /// The feature or decision.
    pub title: String,
    /// Who owns it after the migration.
    pub owner: String,
    /// What it asks for.
    #[serde(rename = "requirement")]
    pub requirements: Vec<Requirement>,
}

/// One thing that must hold.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Never changes once it is published.
    pub id: String,
    /// The requirement in a sentence.
    pub about: String,
    /// Where it stands in the plan; each place is claimed once.
    pub claims: Vec<String>,
    /// The phase from which on it must hold.
    pub phase: u32,
    /// It belongs to the first product.
    #[serde(default)]
    pub mvp: bool,
    /// How far it may be missing, and for how long.
    pub degraded: Option<Degradation>,
    /// How it is shown.
    pub evidence: Evidence,
    /// `checked`: the check that shows it; none yet for a debt.
    pub check: Option<String>,
    /// `data-only`: what the recordings answer, as `question/claim`.
    #[serde(default)]
    pub rests_on: Vec<String>,
    /// `not-observable` and `production`: why it can't be seen here.
    pub why: Option<String>,
    /// The feature: the path of its file.
    #[serde(skip)]
    pub feature: String,
}

/// What may be missing for a while, or holds by a decision alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Degradation {
    /// The last phase in which it may.
    pub until: u32,
    /// By which of the plan's principles of degradation, from 1.
    pub principle: Option<u32>,
    /// By which of the plan's decisions.
    pub decision: Option<u32>,
    /// What is to be seen instead.
    pub shows: String,
}

/// How a requirement is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// By a check on what an adapter shows.
    Checked,
    /// The servers send what a client needs for it; what a client makes of it is its own.
    DataOnly,
    /// Nothing that passes between client and server tells of it.
    NotObservable,
    /// Only real use shows it: an export of the signals.
    Production,
}

impl fmt::Display for Degradation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { until, principle, decision, shows } = self;
        write!(f, "allowed until phase {until}")?;
        if let Some(principle) = principle {
            write!(f, " by principle {principle}")?;
        }
        if let Some(decision) = decision {
            write!(f, " by decision {decision}")?;
        }
        write!(f, ": {shows}")
    }
}

impl Requirement {
    /// Why this is no requirement, if it is none.
    #[must_use]
    pub fn mistake(&self) -> Option<&'static str> {
        let Self { evidence, check, rests_on, why, claims, .. } = self;
        let has = (check.is_some(), !rests_on.is_empty(), why.is_some());
        let by = |degraded: &Degradation| degraded.principle.is_some() != degraded.decision.is_some();
        let degraded = self.degraded.as_ref();
        let is_of = |number: Option<u32>, all: RangeInclusive<u32>| number.is_none_or(|it| all.contains(&it));
        match (evidence, has) {
            _ if !degraded.is_none_or(by) => Some("it is degraded by one principle or by one decision"),
            _ if !degraded.is_none_or(|it| is_of(it.principle, PRINCIPLES)) => {
                Some("the plan has the principles 1 to 5: name one of them")
            }
            _ if !degraded.is_none_or(|it| is_of(it.decision, DECISIONS)) => {
                Some("the plan has the decisions 2 to 8: name one of them")
            }
            _ if degraded.is_some_and(|it| it.until >= ALL_IS_THERE) => {
                Some("it may be missing until phase 3 at most: in phase 4 all is there")
            }
            _ if claims.is_empty() => Some("it says where it stands in the plan: claims = [\"000 §…\"]"),
            (Evidence::Checked, (_, false, false))
            | (Evidence::DataOnly, (false, true, false))
            | (Evidence::NotObservable | Evidence::Production, (false, false, true)) => None,
            (Evidence::Checked, _) => Some("what is checked has a check, and neither rests_on nor why"),
            (Evidence::DataOnly, _) => Some("what is data-only has rests_on, and neither check nor why"),
            (Evidence::NotObservable | Evidence::Production, _) => {
                Some("what can't be seen here says why, and has neither check nor rests_on")
            }
        }
    }
}
