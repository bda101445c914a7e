//! What an adapter's guards are asked: paths that a tool wants to be let at, and files of keys.

use fixtures::paths::Policy;
use serde::{Deserialize, Serialize};

/// Parameters of `path/check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PathCheck {
    /// Where the tool may work; relative paths begin at the first.
    pub roots: Vec<String>,
    /// What the tool would get.
    pub path: String,
    /// By which rules it is judged.
    pub policy: Policy,
}

/// Result of `path/check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PathJudged {
    /// Whether the tool may be let at it.
    pub verdict: PathVerdict,
}

/// What a guard says of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PathVerdict {
    /// It lies in one of the roots.
    Inside,
    /// It leads out of them, or nobody can say where.
    Outside,
}

/// Parameters of `credentials/check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CredentialsCheck {
    /// Where the server keeps the keys of providers.
    pub path: String,
}

/// Result of `credentials/check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CredentialsJudged {
    /// What is to be said of the file.
    pub verdict: CredentialsVerdict,
}

/// What is to be said of a file of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CredentialsVerdict {
    /// Nobody else can read it.
    Safe,
    /// Others can, or it lies where it is shared.
    Unsafe,
    /// There is none.
    Absent,
}
