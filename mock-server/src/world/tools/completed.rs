//! What a tool gives back when it has done its work.

use super::read;
use serde_json::{Value, json};
use std::borrow::Cow;

/// A call's good end.
#[derive(Debug, Clone)]
pub(crate) struct Completed {
    pub(crate) output: String,
    pub(crate) title: String,
    pub(crate) metadata: Value,
    pub(crate) only_told: Value,
    /// Files that belong to the output: each its kind and its bytes.
    pub(crate) attachments: Vec<(Cow<'static, str>, Vec<u8>)>,
}

impl Completed {
    /// With a file that goes to the model as it is, and the words for it.
    pub(super) fn showing(mut self, told: &str, kind: Cow<'static, str>, content: &[u8]) -> Self {
        self.output = told.to_owned();
        self.attachments.push((kind, content.to_vec()));
        self
    }

    /// What only calls itself an image goes to nobody.
    pub(super) fn omit_mere_names(&mut self) {
        let before = self.attachments.len();
        self.attachments
            .retain(|(kind, content)| !kind.starts_with("image/") || read::is_sound(kind, content));
        if self.attachments.len() < before {
            self.output.push_str("\n\n[1 image omitted: could not be resized below the image size limit.]");
        }
    }
}

impl Default for Completed {
    fn default() -> Self {
        let (output, title) = (String::new(), String::new());
        Self { output, title, metadata: json!({}), only_told: json!({}), attachments: Vec::new() }
    }
}
