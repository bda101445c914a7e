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
}

/// A phase of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its number in the plan.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// What a client has to be able to do from this phase on, in the words of the protocol. What is named in no phase has
    /// to be there from the beginning.
    #[serde(default)]
    pub adds: Vec<String>,
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
