//! Instructions that lie beside what is read, or above it in the workspace: they come with the first read that
//! meets them.

use crate::glob::{Fits, fits};
use crate::world::World;
use crate::world::folders::within;
use serde_json::Value;
use std::collections::BTreeSet;

/// Where instructions lie, and what they are.
pub(super) type Guide = (String, String);

impl World {
    /// Those of the instructions that the session has not read yet.
    pub(super) fn new_guides(&mut self, session: &str, guides: Vec<Guide>) -> Vec<Guide> {
        let guides: Vec<Guide> =
            guides.into_iter().filter(|(path, _)| !self.is_told_anyhow(session, path)).collect();
        let known = self.known_guides(session);
        let Some(run) = self.run_mut(session) else { return Vec::new() };
        let is_new = |(path, _): &Guide| !known.contains(path) && run.guides.insert(path.clone());
        guides.into_iter().filter(is_new).filter(|(_, content)| !content.is_empty()).collect()
    }

    /// Those that lie above the session's folder, and those that the settings name, are told to the model anyhow.
    fn is_told_anyhow(&self, session: &str, guide: &str) -> bool {
        let directory = self.sessions.get(session).map_or("", |owner| owner.directory.as_str());
        let folder = guide.rsplit_once('/').map_or("", |(folder, _)| folder);
        if within(folder, directory).is_none_or(str::is_empty) {
            return true;
        }
        let settings = self.settings_in(directory);
        let named = settings.get("instructions").and_then(Value::as_array).into_iter().flatten();
        let mut named = named.filter_map(Value::as_str);
        let worktree = self.worktree_of(directory);
        let above: Vec<&str> =
            std::iter::successors(Some(directory), |folder| Some(folder.rsplit_once('/')?.0))
                .take_while(|folder| within(folder, &worktree).is_some())
                .collect();
        named.any(|name| {
            let name = match name.strip_prefix("~/") {
                Some(rest) => format!("{}/{rest}", self.config.home),
                None => name.to_owned(),
            };
            if name.starts_with('/') {
                return is_at(&name, guide);
            }
            above.iter().any(|folder| {
                within(guide, folder).is_some_and(|rest| is_at(&format!("/{name}"), &format!("/{rest}")))
            })
        })
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

/// Does a pattern of places choose this one?
fn is_at(pattern: &str, place: &str) -> bool {
    matches!(fits(pattern), Fits::These(Some(wanted)) if wanted.is_match(place.trim_start_matches('/')))
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
