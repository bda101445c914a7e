//! What the person has attached to each message: by the ids of the parts, which ascend as they were attached.

use super::super::strategy::Deltas;
use crate::protocol::Attachment;
use std::collections::BTreeMap;

/// Message → its files, each with the id of its part.
#[derive(Debug, Default)]
pub(super) struct Attached(BTreeMap<String, Vec<(String, Attachment)>>);

impl Attached {
    /// What was read as a whole.
    pub(super) fn loaded(self, deltas: &dyn Deltas) -> Self {
        Self(deltas.loaded_files(self.0))
    }

    /// The messages that have any.
    pub(super) fn messages(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// Has this message any?
    pub(super) fn has(&self, message: &str) -> bool {
        self.0.contains_key(message)
    }

    /// The files of a message, in order.
    pub(super) fn of(&self, message: &str) -> Vec<Attachment> {
        self.0.get(message).into_iter().flatten().map(|(_, file)| file.clone()).collect()
    }

    /// A file came; is it news?
    pub(super) fn put(&mut self, message: &str, part: String, file: Attachment, deltas: &dyn Deltas) -> bool {
        let files = self.0.entry(message.to_owned()).or_default();
        if let Some((_, known)) = files.iter_mut().find(|(known, _)| *known == part) {
            let is_news = *known != file;
            *known = file;
            return is_news;
        }
        let before = files.iter().filter(|(known, _)| *known < part).count();
        let Some(at) = deltas.place_of_file(before, files.len()) else { return false };
        files.insert(at, (part, file));
        true
    }

    /// A message is gone; had it any?
    pub(super) fn remove(&mut self, message: &str) -> bool {
        self.0.remove(message).is_some()
    }

    /// A part is gone; was it one of them?
    pub(super) fn remove_part(&mut self, part: &str) -> bool {
        let is_here = self.0.values().flatten().any(|(known, _)| known == part);
        self.0.values_mut().for_each(|files| files.retain(|(known, _)| known != part));
        self.0.retain(|_, files| !files.is_empty());
        is_here
    }
}
