//! Words of the model, on a page.

use schemars::JsonSchema;
use serde::Deserialize;

/// The page shows words of the model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Render {
    /// The words, in Markdown.
    pub(crate) text: String,
    /// What the person must be able to read there, sign by sign.
    #[serde(default)]
    pub(crate) shows: Vec<String>,
}
