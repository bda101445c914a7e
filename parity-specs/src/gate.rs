//! What a phase asks for, and what nobody proves yet.

use schemars::JsonSchema;
use serde::Deserialize;

/// The file of phases.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseFile {
    /// In order.
    #[serde(rename = "phase")]
    pub phases: Vec<Phase>,
}

/// A phase of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its number in the plan.
    pub number: u32,
    /// Its name.
    pub name: String,
}

/// The ledger of debt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DebtFile {
    /// What is owed.
    #[serde(default, rename = "debt")]
    pub debts: Vec<Debt>,
}

/// A requirement that nothing proves.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Debt {
    /// The requirement's id.
    pub requirement: String,
    /// Why, and what would be needed.
    pub reason: String,
}
