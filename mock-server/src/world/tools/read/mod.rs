//! `read`: a text file, its lines numbered, or the names in a folder. Nobody is asked inside the workspace.

mod folder;
mod text;

use super::{Completed, Place, Plan};
use crate::world::permission::Wish;
use crate::world::{Effect, Found, Purpose, World};
use serde_json::{Value, json};
use text::{LINES_MAX, PREVIEW_LINES, Window};

/// A read that may happen.
#[derive(Debug, Clone)]
pub(crate) struct ReadPlan {
    place: Place,
    window: Window,
    /// What stands there, once it is known.
    found: Option<Found>,
}

/// What a call gets to see.
#[derive(Debug)]
struct Reading {
    output: String,
    preview: String,
    is_truncated: bool,
    display: Value,
}

/// Files that the servers show to the model as they are.
const SHOWN_EXTENSIONS: &[&str] = &["gif", "jpeg", "jpg", "pdf", "png", "webp"];

impl World {
    pub(super) fn start_read(&mut self, session: &str, call: usize) {
        let Some(place) = self.place_argument(session, call) else { return };
        let number = |world: &Self, name| world.number_argument(session, call, name);
        // Zero stands for the beginning, and no call asks for nothing.
        let offset = number(self, "offset").unwrap_or(1).max(1);
        let limit = number(self, "limit").unwrap_or(LINES_MAX).max(1);
        let path = place.path.clone();
        let plan = ReadPlan { place, window: Window { offset, limit }, found: None };
        self.set_plan(session, call, Plan::Read(plan));
        self.effect(Purpose::CallRead(session.to_owned(), call), Effect::Read { path });
    }

    /// It is known what stands there: rules, then the answer.
    pub(super) fn file_read(&mut self, session: &str, call: usize, plan: ReadPlan, found: Found) {
        if self.profile.asks_for_folder_of_missing && found == (Found::Nothing { beside: None }) {
            self.fail_call(session, call, &format!("File not found: {}", plan.place.given));
            return;
        }
        let mut patterns = vec![plan.place.relative.clone()];
        if self.profile.asks_for_folder_of_missing && matches!(found, Found::Nothing { .. }) {
            // A file that is not there is looked for in its folder.
            let folder = plan.place.relative.rsplit_once('/').map_or("", |(folder, _)| folder);
            patterns.push(folder.to_owned());
        }
        self.set_plan(session, call, Plan::Read(ReadPlan { found: Some(found), ..plan }));
        let wish = Wish { permission: "read", patterns, metadata: json!({}), always: vec!["*".to_owned()] };
        self.ask_or_allow(session, call, &wish);
    }

    pub(super) fn read(&mut self, session: &str, call: usize, plan: ReadPlan) {
        let ReadPlan { place, window, found: Some(found) } = plan else { return };
        match self.reading(&place, window, found) {
            Err(message) => self.fail_call(session, call, &message),
            Ok(reading) => {
                let Reading { output, preview, is_truncated, display } = reading;
                if self.profile.tool_progress {
                    self.progress(session, call, json!({"output": output}));
                }
                let metadata =
                    json!({"preview": preview, "truncated": is_truncated, "loaded": [], "display": display});
                let title = place.relative;
                let result = Completed { output, title, metadata, only_told: json!({}) };
                self.complete_call(session, call, &result);
            }
        }
    }

    /// What a prompt that carries a file or a folder gets to see of it.
    pub(crate) fn read_for_prompt(
        &self,
        session: &str,
        path: &str,
        (offset, limit): (Option<u64>, Option<u64>),
        found: Found,
    ) -> Result<String, String> {
        let directory = self.sessions.get(session).map_or("", |owner| owner.directory.as_str());
        let relative = super::inside(directory, path).unwrap_or_default();
        let place = Place { path: path.to_owned(), given: path.to_owned(), relative };
        let number = |number: Option<u64>, usual| {
            number.map_or(usual, |number| usize::try_from(number).unwrap_or(usize::MAX)).max(1)
        };
        let window = Window { offset: number(offset, 1), limit: number(limit, LINES_MAX) };
        self.reading(&place, window, found).map(|reading| reading.output)
    }

    fn reading(&self, place: &Place, window: Window, found: Found) -> Result<Reading, String> {
        let given = &place.given;
        let shown = if self.profile.shows_resolved_paths { &place.path } else { given };
        match found {
            Found::Folder(entries) => Ok(folder::reading(shown, entries, window)),
            Found::File(content) => file_reading(shown, given, &content, window),
            // Nobody who reads asks for all that is below.
            Found::Tree(_) => Err(format!("File not found: {given}")),
            Found::Nothing { beside } => {
                let near = if self.profile.names_near_files { near_names(given, beside) } else { Vec::new() };
                if near.is_empty() {
                    return Err(format!("File not found: {given}"));
                }
                Err(format!("File not found: {given}\n\nDid you mean one of these?\n{}", near.join("\n")))
            }
        }
    }
}

/// What is shown names the file by `path`; what fails names it as it was `given`.
fn file_reading(path: &str, given: &str, content: &[u8], window: Window) -> Result<Reading, String> {
    let extension = given.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    if extension.is_some_and(|extension| SHOWN_EXTENSIONS.contains(&extension.as_str())) {
        return Err(format!("standin does not show images and PDFs yet: {given}"));
    }
    if text::is_binary(given, content) {
        return Err(format!("Cannot read binary file: {given}"));
    }
    let Window { offset, .. } = window;
    let lines = text::lines(content, window)
        .map_err(|count| format!("Offset {offset} is out of range for this file ({count} lines)"))?;
    let numbered: Vec<String> =
        lines.shown.iter().enumerate().map(|(at, line)| format!("{}: {line}", at + offset)).collect();
    let last = offset + lines.shown.len() - 1;
    let (next, count) = (last + 1, lines.count);
    let end = if lines.is_capped {
        format!("(Output capped at 50 KB. Showing lines {offset}-{last}. Use offset={next} to continue.)")
    } else if lines.has_more {
        format!("(Showing lines {offset}-{last} of {count}. Use offset={next} to continue.)")
    } else {
        format!("(End of file - total {count} lines)")
    };
    let output = format!(
        "<path>{path}</path>\n<type>file</type>\n<content>\n{}\n\n{end}\n</content>",
        numbered.join("\n")
    );
    let display = json!({
        "type": "file", "path": path, "text": lines.shown.join("\n"), "lineStart": offset, "lineEnd": last,
        "totalLines": count, "truncated": lines.has_more,
    });
    let preview = lines.shown[..lines.shown.len().min(PREVIEW_LINES)].join("\n");
    Ok(Reading { output, preview, is_truncated: lines.has_more, display })
}

/// How many near names are told.
const NEAR_NAMES_MAX: usize = 3;

/// Names beside the missing one that hold it, or that it holds, whatever their case.
fn near_names(path: &str, beside: Option<Vec<String>>) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or_default();
    let name = name.to_lowercase();
    let is_near = |entry: &String| {
        let entry = entry.to_lowercase();
        entry.contains(&name) || name.contains(&entry)
    };
    let names = beside.unwrap_or_default().into_iter();
    let names = names.map(|entry| entry.trim_end_matches('/').to_owned());
    names.filter(is_near).take(NEAR_NAMES_MAX).map(|entry| format!("{folder}/{entry}")).collect()
}
