//! What a phase asks for, and what nobody proves yet.

use fixtures::ServerKind;
use schemars::JsonSchema;
use serde::Deserialize;

/// The file of phases.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseFile {
    /// In order.
    #[serde(rename = "phase")]
    pub phases: Vec<Phase>,
    /// What ends a rollout, whatever its phase.
    #[serde(default, rename = "trigger")]
    pub triggers: Vec<Trigger>,
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

/// What the plan goes back for at once: a check that is red once fires it, and fails the gate of every phase.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trigger {
    /// Never changes once it is published.
    pub id: String,
    /// What has happened, in a sentence.
    pub about: String,
    /// Where it stands in the specification.
    pub source: String,
    /// The check that is red then.
    pub check: String,
    /// What the plan does about it.
    pub then: String,
}

/// The ledger of debt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DebtFile {
    /// What is owed.
    #[serde(default, rename = "debt")]
    pub debts: Vec<Debt>,
    /// What the stand-in's world can't perform yet.
    #[serde(default)]
    pub unperformed: Vec<Unperformed>,
}

/// A scenario that is recorded and that the stand-in's world can't perform yet.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unperformed {
    /// The scenario's name.
    pub scenario: String,
    /// The servers whose world can't.
    #[serde(default = "crate::case::all_servers")]
    pub servers: Vec<ServerKind>,
    /// Why, and what would be needed.
    pub reason: String,
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
