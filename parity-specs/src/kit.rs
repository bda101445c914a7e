//! What a kit asks for: `kits/<kit>/<feature>.toml`. A kit judges one kind of system by cases of its own, and claims the
//! statements of its own plan; it has no phases.

use crate::Evidence;
use schemars::JsonSchema;
use serde::Deserialize;

/// A file of a kit's requirements.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KitFile {
    /// What the requirements are about.
    pub title: String,
    /// One or more.
    #[serde(rename = "requirement")]
    pub requirements: Vec<KitRequirement>,
}

/// One thing that must hold.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KitRequirement {
    /// Never changes once it is published; begins with the kit's name and a point.
    pub id: String,
    /// The requirement in a sentence.
    pub about: String,
    /// Where it stands in the plan; each place is claimed once. None where the plan's aim asks for it, and not its letter.
    #[serde(default)]
    pub claims: Vec<String>,
    /// How it is shown: `checked`, or `not-observable`.
    pub evidence: Evidence,
    /// `checked`: the check that shows it; none yet for what is owed.
    pub check: Option<String>,
    /// `not-observable`: why it can't be seen here.
    pub why: Option<String>,
    /// Nothing proves it yet: why, and what would be needed.
    pub owed: Option<String>,
    /// What its file is called.
    #[serde(skip)]
    pub feature: String,
}

impl KitRequirement {
    /// Why this is no requirement of this kit, if it is none.
    #[must_use]
    pub fn mistake(&self, kit: &str) -> Option<String> {
        let Self { id, evidence, check, why, owed, .. } = self;
        if !id.strip_prefix(kit).is_some_and(|rest| rest.starts_with('.')) {
            return Some(format!("its id begins with '{kit}.'"));
        }
        match (evidence, check, why, owed) {
            (Evidence::Checked, Some(_), None, _)
            | (Evidence::Checked, None, None, Some(_))
            | (Evidence::NotObservable, None, Some(_), None) => None,
            (Evidence::Checked, ..) => Some(
                "what is checked has a check, or says in `owed` why it has none yet, and no why".to_owned(),
            ),
            (Evidence::NotObservable, ..) => {
                Some("what can't be seen here says why, and has neither check nor owed".to_owned())
            }
            (Evidence::DataOnly | Evidence::Production, ..) => {
                Some("a kit's requirement is checked or not-observable".to_owned())
            }
        }
    }
}
