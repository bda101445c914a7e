//! What sends users back to the old backend: `triggers.toml`. A trigger fires when a requirement that it watches
//! does not hold, or when signals of real use cross its threshold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The file of triggers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TriggerFile {
    /// In the order of the phases.
    #[serde(rename = "trigger")]
    pub triggers: Vec<Trigger>,
}

/// A trigger for going back.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trigger {
    /// Never changes once it is published.
    pub id: String,
    /// What fires it.
    pub about: String,
    /// Where it stands in the plan.
    pub claims: Vec<String>,
    /// The phase from which on it is watched.
    pub phase: u32,
    /// It fires when one of these does not hold.
    #[serde(default)]
    pub watches: Vec<String>,
    /// It fires when a signal crosses this.
    pub signal: Option<Threshold>,
    /// What the plan prescribes when it fires.
    pub action: String,
}

/// A bound on a signal of real use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// The signal.
    pub name: String,
    /// What is made of its values within the window.
    pub of: Measure,
    /// More than so much fires.
    pub more_than: u64,
    /// The window; all that is exported when absent.
    pub within_s: Option<u64>,
    /// Whose number it is.
    pub by: Whose,
}

/// What is made of the values of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Their sum.
    Sum,
    /// So that 95 of 100 are at most this.
    P95,
}

/// Who said how much is too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Whose {
    /// The plan.
    Plan,
    /// The plan has no number; this one is ours, and yours to change.
    Ours,
}
