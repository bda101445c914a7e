//! Instructions that lie beside what is read, or above it in the workspace: they come with the first read that
//! meets them.

use crate::world::World;
use serde_json::Value;
use std::collections::BTreeSet;

/// Where instructions lie, and what they are.
pub(super) type Guide = (String, String);

impl World {
    /// Those of the instructions that the session has not read yet.
    pub(super) fn new_guides(&mut self, session: &str, guides: Vec<Guide>) -> Vec<Guide> {
        let known = self.known_guides(session);
        let Some(run) = self.run_mut(session) else { return Vec::new() };
        let is_new = |(path, _): &Guide| !known.contains(path) && run.guides.insert(path.clone());
        guides.into_iter().filter(is_new).filter(|(_, content)| !content.is_empty()).collect()
    }

    fn known_guides(&self, session: &str) -> BTreeSet<String> {
        let messages = self.sessions.get(session).into_iter().flat_map(|owner| &owner.messages);
        let reads = messages
            .flat_map(|message| &message.parts)
            .filter(|part| part["tool"] == "read" && part["state"]["status"] == "completed");
        let loaded = reads.filter_map(|part| part.pointer("/state/metadata/loaded")?.as_array());
        loaded.flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

/// How they are told behind what was read.
pub(super) fn reminder(guides: &[Guide]) -> String {
    if guides.is_empty() {
        return String::new();
    }
    let told: Vec<String> =
        guides.iter().map(|(path, content)| format!("Instructions from: {path}\n{content}")).collect();
    format!("\n\n<system-reminder>\n{}\n</system-reminder>", told.join("\n\n"))
}
