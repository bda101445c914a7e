//! What must hold, and what kind of evidence shows it.

use schemars::JsonSchema;
use serde::Deserialize;

/// A file of requirements.
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
    /// Where it stands in the specification.
    pub source: String,
    /// The phase from which on it must hold.
    pub phase: u32,
    /// It belongs to the first product.
    pub mvp: bool,
    /// How it is shown.
    pub evidence: Evidence,
    /// What of it holds by a decision alone, and until which phase.
    pub degraded: Option<Degraded>,
    /// The check that shows it; none yet for a debt.
    pub check: Option<String>,
}

/// A decision by which something is accepted for a while.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Degraded {
    /// The first phase in which it is accepted no more: another requirement asks for it there.
    pub until: u32,
    /// The decision.
    pub by: String,
}

/// How a requirement is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// By a check on what an adapter shows.
    Checked,
}
