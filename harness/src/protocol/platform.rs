//! What a client has beside the agent: completions, messages for commits, voice and so on.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Result of `platform/features`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlatformFeatures {
    /// Each feature by the client's own name for it; does it work just now?
    pub features: BTreeMap<String, bool>,
}
