//! What stands somewhere, as a case writes it: state, copies of a conversation, servers of tools, files of an index.

use super::Configure;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A value that the program keeps.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Set {
    /// `global`, `workspace` or `session`.
    pub(crate) scope: String,
    /// Its name.
    pub(crate) name: String,
    /// The value.
    pub(crate) value: String,
}

/// What state there has to be: `scope.name`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stands {
    /// Each with its value.
    #[serde(default)]
    pub(crate) has: BTreeMap<String, String>,
    /// What there must not be.
    #[serde(default)]
    pub(crate) lacks: Vec<String>,
}

/// The program ends and starts again, and finds things otherwise.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Reopen(pub(crate) Configure);

/// A conversation of which copies are kept.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Conversation {
    /// Whenever it has so many messages more; never, if that is 0.
    pub(crate) every: u64,
    /// So many of them at most, the latest.
    pub(crate) most: u64,
}

/// A server of tools: a script of the kit's.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    /// Its name.
    pub(crate) name: String,
    /// It has the kit's canary in this variable of its environment.
    pub(crate) variable: String,
}

/// A tool of such a server is called.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    /// Whose.
    pub(crate) server: String,
    /// Which.
    pub(crate) tool: String,
    /// With what.
    #[serde(default)]
    pub(crate) arguments: Value,
    /// What is in its answer; without that, it fails.
    pub(crate) says: Option<String>,
}

/// A resource of such a server is read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resource {
    /// Whose.
    pub(crate) server: String,
    /// Which.
    pub(crate) uri: String,
    /// What is in it; without that, there is none.
    pub(crate) says: Option<String>,
}

/// A file that is written, and may be indexed again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    /// Which, below the first root.
    pub(crate) path: String,
    /// What it says; without that, it is deleted.
    pub(crate) content: Option<String>,
}

/// A word is looked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// The word.
    pub(crate) word: String,
    /// The files that have it.
    pub(crate) finds: Vec<String>,
}
