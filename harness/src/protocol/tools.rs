//! What the person does with servers of tools (MCP).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Result of `mcp/list` and `mcp/add`: the servers of tools, each with its state in the server's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolServers {
    /// Name → state, e.g. `connected`.
    pub servers: BTreeMap<String, String>,
}

/// Parameters of `mcp/add`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolServerAdd {
    /// Its name.
    pub name: String,
    /// As the server's configuration has it.
    pub config: Value,
}

/// Parameters of `mcp/connect`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolServerRef {
    /// Its name.
    pub name: String,
}
