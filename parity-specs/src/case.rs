//! A parity case: a scenario, what breaks in it, and which requirements it proves.

use fixtures::ServerKind;
use fixtures::fault_plan::{Fault, FaultPlan};
use fixtures::scenario::User;
use schemars::JsonSchema;
use serde::Deserialize;

/// The lane on which the harness connects adapters. Faults for a client name it.
pub const ADAPTER_LANE: &str = "adapter";

/// A case file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What is shown, in a sentence.
    pub about: String,
    /// The scenario, as `area/name`.
    pub scenario: String,
    /// The requirements that it proves.
    pub proves: Vec<String>,
    /// The servers that it is run with.
    #[serde(default = "all_servers")]
    pub servers: Vec<ServerKind>,
    /// What the person does, where it differs from the scenario.
    pub user: Option<User>,
    /// What breaks.
    #[serde(default, rename = "fault")]
    pub faults: Vec<Fault>,
}

/// A case and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedCase {
    /// `area/slug`; never changes once it is published.
    pub name: String,
    /// The case.
    pub case: Case,
}

impl Case {
    /// What breaks, as a plan.
    #[must_use]
    pub fn fault_plan(&self) -> FaultPlan {
        FaultPlan { faults: self.faults.clone(), ..FaultPlan::default() }
    }
}

pub(crate) fn all_servers() -> Vec<ServerKind> {
    ServerKind::ALL.to_vec()
}
