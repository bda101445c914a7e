//! What an adapter is asked about features beside the chat: rules and countdowns that answer in the person's place, whose
//! new tasks are, what its screen offers, and which language of the server a locale means.

use super::Reply;
use serde::{Deserialize, Serialize};

/// A rule that answers requests for leave in the person's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AutoApprove {
    /// The kinds of leave that it gives, e.g. `edit`.
    pub kinds: Vec<String>,
    /// How long the person can still answer or stop it; with 0 nobody is asked.
    pub delay_ms: u64,
}

impl AutoApprove {
    /// Does it give leave of this kind?
    #[must_use]
    pub fn covers(&self, kind: &str) -> bool {
        self.kinds.iter().any(|covered| covered == kind)
    }
}

/// A countdown that answers a question with what it suggests, each first label, if the person does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FollowUp {
    /// How long the person has.
    pub delay_ms: u64,
}

/// Whose new tasks are: what the flag says. Tasks that are there stay whose they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Backend {
    /// The server's.
    #[default]
    Server,
    /// The old backend's.
    Local,
}

/// Parameters of `permission/all`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PermissionAll {
    /// Which task.
    pub task_id: String,
    /// The person's answer to all that the task asks.
    pub reply: Reply,
}

/// Parameters of `permission/hold`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PermissionRef {
    /// Which task.
    pub task_id: String,
    /// Which request, as `permissionRequest` named it.
    pub permission_id: String,
}

/// Result of `ui/affordances`: what the screen of a task offers just now, as far as it can be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Offered {
    /// Each once.
    pub offers: Vec<Affordance>,
}

/// Something that the person can do on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Affordance {
    /// Stop the agent.
    Stop,
    /// Try again after an error.
    Retry,
    /// Answer requests for leave.
    Permissions,
    /// Have them answered by rules.
    AutoApprove,
    /// Answer the agent's questions.
    Questions,
    /// See the agent's list of things to do.
    Todos,
    /// Write a prompt and send it.
    Input,
    /// Start, stop and step a browser.
    Browser,
    /// End the process of a command, by its number.
    Process,
}

/// Parameters and result of `locale/map`: the editor's locale, and the server's language for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Locale {
    /// e.g. `pt-BR`, and `br`.
    pub locale: String,
}
