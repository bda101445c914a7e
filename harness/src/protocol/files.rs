//! Files beside the words of a task: what the person attaches to a prompt, and what the agent has changed.

use serde::{Deserialize, Serialize};

/// Something that the person attaches to a prompt, such as an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attachment {
    /// What it is, e.g. `image/png`.
    pub mime: String,
    /// The name of its file; the server's `filename`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it is, or all of it as `data:`.
    pub url: String,
}

/// What the agent of a task has changed, as the person sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Diff {
    /// Nobody could tell.
    Unavailable,
    /// These files, in the server's order; none when nothing is changed.
    #[serde(untagged)]
    Known(Vec<ChangedFile>),
}

/// A file that the agent has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangedFile {
    /// Its name.
    pub file: String,
    /// So many lines came.
    pub additions: u64,
    /// So many lines went.
    pub deletions: u64,
    /// What became of it, in the server's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Which lines, in the server's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}
