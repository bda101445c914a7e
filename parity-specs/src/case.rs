//! A parity case: a scenario, what breaks in it, and which requirements it proves.

use fixtures::error::FileError;
use fixtures::fault_plan::{Action, Fault, FaultPlan, StartFault};
use fixtures::paths::Policy;
use fixtures::scenario::User;
use fixtures::{ServerKind, catalog};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// How often the real servers' hearts beat.
const HEARTBEAT_MS: f64 = 10_000.0;

/// The lane on which the harness connects adapters. Faults for a client name it.
pub const ADAPTER_LANE: &str = "adapter";

/// A case file.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
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
    /// What an adapter has to be able to do, beside what the person's steps and the requirements' checks ask for.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What the adapter's waits are multiplied by; other than 1, it asks for an adapter with `scaled-time`.
    #[serde(default = "real_time")]
    pub time_scale: f64,
    /// May the agent use tools?
    #[serde(default = "yes")]
    pub tools: bool,
    /// A rule of the person that answers requests for leave.
    pub auto_approve: Option<Rule>,
    /// A countdown, unscaled, after which the agent's questions are answered with what they suggest.
    pub follow_up_ms: Option<u64>,
    /// The folders, below the workspace, of sessions that don't work in it.
    #[serde(default)]
    pub folders: BTreeMap<String, String>,
    /// Before anything else the adapter's guard is asked about the whole corpus of paths, by these rules.
    pub paths: Option<Policy>,
    /// The adapter starts the server by itself.
    pub spawn: Option<Spawn>,
    /// Files of keys that the adapter is asked to look at, one after the other.
    #[serde(default)]
    pub credentials: Vec<CredentialsFile>,
    /// Links below the workspace, and the canaries that they lead to: from the link's folder on, as `"../canary.txt"`, or from
    /// the workspace's own name on, as `"${workspace}-old/canary.txt"`; behind a `/`, as `"../elsewhere/"`, an empty folder.
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    /// Nothing breaks and nobody does anything unusual: whoever can talk at all passes it, mutants too.
    #[serde(default)]
    pub plain: bool,
    /// The broken clients that it catches: in each of them a check of what it proves is red.
    #[serde(default)]
    pub catches: Vec<String>,
    /// A plan that Standin carries: what breaks, in front of the adapter alone.
    pub plan: Option<String>,
    /// What breaks, beside that.
    #[serde(default, rename = "fault")]
    pub faults: Vec<Fault>,
}

/// A rule that answers requests for leave in the person's place.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The kinds of leave that it gives, e.g. `edit`.
    pub kinds: Vec<String>,
    /// How long the person can still answer or stop it, unscaled; with 0 nobody is asked.
    #[serde(default)]
    pub delay_ms: u64,
}

/// How an adapter starts the server, and what is in its way.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spawn {
    /// What goes wrong with which start. It comes first, so that no list of other things is taken for this table.
    #[serde(default, rename = "start")]
    pub starts: Vec<StartFault>,
    /// There is no such program.
    #[serde(default)]
    pub program_missing: bool,
    /// Somebody else listens at the port that the server is told to take.
    #[serde(default)]
    pub port_taken: bool,
    /// A start has failed: what was in the way of it is mended, all that breaks in front of the adapter among it, and the
    /// person wants the server started again.
    #[serde(default)]
    pub again: bool,
    /// In the end the person wants one more task.
    #[serde(default)]
    pub another_task: bool,
    /// Then the person closes the workspace.
    #[serde(default)]
    pub closes: bool,
}

/// A file of keys.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CredentialsFile {
    /// Who may do what with it, as in `0o600`.
    pub mode: u16,
    /// It lies in the workspace, and not in the server's home.
    #[serde(default)]
    pub in_workspace: bool,
    /// What the adapter is told of is a link to it.
    #[serde(default)]
    pub linked: bool,
}

fn real_time() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

/// A case and its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedCase {
    /// `area/slug`; never changes once it is published.
    pub name: String,
    /// The case.
    pub case: Case,
}

impl Case {
    /// A case in which nothing breaks, and which proves nothing by itself.
    #[must_use]
    pub fn of_scenario(about: String, scenario: String, server: ServerKind) -> Self {
        Self {
            about,
            scenario,
            proves: Vec::new(),
            servers: vec![server],
            user: None,
            needs: Vec::new(),
            time_scale: real_time(),
            tools: yes(),
            auto_approve: None,
            follow_up_ms: None,
            credentials: Vec::new(),
            folders: BTreeMap::new(),
            paths: None,
            links: BTreeMap::new(),
            plain: false,
            catches: Vec::new(),
            spawn: None,
            plan: None,
            faults: Vec::new(),
        }
    }

    /// What breaks, as a plan. It breaks for the adapter alone, never for the harness's own eyes.
    pub fn fault_plan(&self) -> Result<FaultPlan, FileError> {
        let mut plan = match &self.plan {
            Some(name) => {
                let (file, text) = catalog::fault_plan_text(name)?;
                FaultPlan::parse(&file, &text)?
            }
            None => FaultPlan::default(),
        };
        plan.faults.extend(self.faults.iter().cloned());
        for fault in &mut plan.faults {
            fault.when.lane.get_or_insert_with(|| ADAPTER_LANE.to_owned());
        }
        let beats = plan.faults.iter().any(|fault| matches!(fault.action, Action::Heartbeat(_)));
        if self.time_scale != 1.0 && !beats {
            // Where time is shorter, hearts beat faster.
            let ms = (HEARTBEAT_MS * self.time_scale).round();
            let beat = format!(
                "[[fault]]\nwhen = {{ stream = \"any\", lane = \"{ADAPTER_LANE}\", times = \"always\" }}\ndo = {{ heartbeat = \"every\", ms = {ms} }}\n"
            );
            plan.faults.extend(FaultPlan::parse(Path::new("a heartbeat"), &beat)?.faults);
        }
        if plan.starts.is_empty() {
            return Ok(plan);
        }
        let file = Path::new("fixtures/fault-plans").join(self.plan.as_deref().unwrap_or_default());
        Err(FileError::whole(
            file.with_extension("toml"),
            "a plan of starts is for programs, and no case can use it",
        ))
    }

    /// Does anything break?
    #[must_use]
    pub fn breaks(&self) -> bool {
        let spawn = self.spawn.as_ref();
        let starts_badly = spawn.is_some_and(|s| s.program_missing || s.port_taken || !s.starts.is_empty());
        self.plan.is_some() || !self.faults.is_empty() || starts_badly
    }
}

pub(crate) fn all_servers() -> Vec<ServerKind> {
    ServerKind::ALL.to_vec()
}
