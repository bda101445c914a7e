//! What a tool gives back when it has done its work.

use super::read;
use crate::world::World;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::borrow::Cow;

/// A call's good end.
#[derive(Debug, Clone)]
pub(crate) struct Completed {
    pub(crate) output: String,
    pub(crate) title: String,
    pub(crate) metadata: Value,
    pub(crate) only_told: Value,
    /// Files that belong to the output.
    pub(crate) attachments: Vec<Attachment>,
}

/// A file that belongs to an output.
#[derive(Debug, Clone)]
pub(crate) struct Attachment {
    pub(crate) kind: Cow<'static, str>,
    pub(crate) content: Vec<u8>,
    /// What it is called, if anything.
    pub(crate) name: Option<String>,
}

impl Completed {
    /// With a file that goes to the model as it is, and the words for it.
    pub(super) fn showing(mut self, told: &str, kind: Cow<'static, str>, content: &[u8]) -> Self {
        self.output = told.to_owned();
        self.attach(kind, content.to_vec(), None);
        self
    }

    pub(super) fn attach(&mut self, kind: Cow<'static, str>, content: Vec<u8>, name: Option<String>) {
        self.attachments.push(Attachment { kind, content, name });
    }

    /// What only calls itself an image goes to nobody.
    pub(super) fn omit_mere_names(&mut self) {
        let before = self.attachments.len();
        self.attachments
            .retain(|file| !file.kind.starts_with("image/") || read::is_sound(&file.kind, &file.content));
        if self.attachments.len() < before {
            self.output.push_str("\n\n[1 image omitted: could not be resized below the image size limit.]");
        }
    }
}

impl World {
    /// The files of an output as parts.
    pub(super) fn attached(&mut self, session: &str, call: usize, files: &[Attachment]) -> Vec<Value> {
        let message = self.call_part(session, call).map(|(message, _)| message).unwrap_or_default();
        let of_file = |file: &Attachment| {
            let url = format!("data:{};base64,{}", file.kind, STANDARD.encode(&file.content));
            let id = self.ids.ascending("prt", self.now_ms);
            let mut told = json!({
                "type": "file", "mime": file.kind, "url": url, "id": id, "sessionID": session, "messageID": message,
            });
            if let Some(name) = &file.name {
                told["filename"] = json!(name);
            }
            told
        };
        files.iter().map(of_file).collect()
    }

    pub(super) fn state_is_completed(&mut self, session: &str, call: usize) -> bool {
        self.call_part(session, call).is_some_and(|(message, part)| {
            self.part_mut(session, &message, part).is_some_and(|part| part["state"]["status"] == "completed")
        })
    }
}

impl Default for Completed {
    fn default() -> Self {
        let (output, title) = (String::new(), String::new());
        Self { output, title, metadata: json!({}), only_told: json!({}), attachments: Vec::new() }
    }
}
