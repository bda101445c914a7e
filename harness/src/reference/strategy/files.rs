//! What goes with a prompt, and what the agent has changed.

use crate::protocol::{Attachment, ChangedFile, Diff};
use serde_json::{Value, json};

/// What went with a prompt.
#[derive(Debug, Clone, Default)]
pub struct Went {
    /// The files.
    pub files: Vec<Attachment>,
    /// The server did not take the prompt.
    pub was_refused: bool,
}

/// Decides what goes with a prompt.
pub trait Attaching: Send {
    /// The part of a prompt that carries a file.
    fn part(&self, file: &Attachment) -> Value {
        let mut part = json!({ "type": "file", "mime": file.mime, "url": file.url });
        if let Some(name) = &file.name {
            part["filename"] = json!(name);
        }
        part
    }

    /// Which files go with a prompt, of those that are attached to it and what went with the one before.
    fn sent(&self, now: Vec<Attachment>, _before: Went) -> Vec<Attachment> {
        now
    }

    /// The words of a prompt as they are sent.
    fn words(&self, said: &str) -> String {
        said.to_owned()
    }

    /// Is an empty text sent, too, when files say all?
    fn says_nothing(&self) -> bool {
        false
    }

    /// Do the files of a message go with what is said in its place?
    fn keeps_when_edited(&self) -> bool {
        true
    }
}

/// Decides what is shown of the agent's changes.
pub trait Changes: Send {
    /// What is shown of a file; `None` is nothing.
    fn shown(&self, file: ChangedFile) -> Option<ChangedFile> {
        Some(file)
    }

    /// What is shown when they were told anew, after what was shown before.
    fn told(&self, _before: Option<Diff>, now: Diff) -> Diff {
        now
    }

    /// Are they read after a gap?
    fn reads_after_gap(&self) -> bool {
        true
    }

    /// What is shown when they could not be read.
    fn unread(&self) -> Diff {
        Diff::Unavailable
    }
}
