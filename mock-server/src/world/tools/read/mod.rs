//! `read`: a text file, its lines numbered, the names in a folder, or an image as it is. Nobody is asked inside the
//! workspace.

mod folder;
mod guides;
mod kinds;
mod text;

use super::outside::Kind;
use super::{Completed, Place, Plan};
use crate::world::permission::Wish;
use crate::world::{Effect, Found, Purpose, Sight, World};
pub(in crate::world) use kinds::{by_bytes as picture_kind, is_sound};
use serde_json::{Value, json};
use text::{LINES_MAX, PREVIEW_LINES, Window};

/// A read that may happen.
#[derive(Debug, Clone)]
pub(crate) struct ReadPlan {
    place: Place,
    window: Window,
    /// What stands there, once it is known.
    sight: Option<Sight>,
}

/// What a call gets to see.
#[derive(Debug)]
struct Reading {
    output: String,
    preview: String,
    is_truncated: bool,
    display: Value,
}

impl World {
    pub(super) fn start_read(&mut self, session: &str, call: usize) {
        let Some(place) = self.place_argument(session, call) else { return };
        let number = |world: &Self, name| world.number_argument(session, call, name);
        // Zero stands for the beginning.
        let offset = number(self, "offset").unwrap_or(1).max(1);
        let limit = number(self, "limit").unwrap_or(LINES_MAX).max(self.profile.least_lines);
        let path = place.path.clone();
        let plan = ReadPlan { place, window: Window { offset, limit }, sight: None };
        self.set_plan(session, call, Plan::Read(Box::new(plan)));
        self.effect(Purpose::CallStudied(session.to_owned(), call), Effect::Study { path });
    }

    /// It is known what stands there: may the call go there, and read it?
    pub(crate) fn call_studied(&mut self, session: &str, call: usize, sight: Sight) {
        let plan =
            self.run_mut(session).and_then(|run| run.calls.get(call)).and_then(|call| call.plan.clone());
        let Some(Plan::Read(mut plan)) = plan else { return };
        let is_missing = matches!(sight.found, Found::Nothing { .. });
        if self.profile.asks_for_folder_of_missing && sight.found == (Found::Nothing { beside: None }) {
            self.fail_call(session, call, &format!("File not found: {}", plan.place.given));
            return;
        }
        let Place { given, path, .. } = plan.place.clone();
        let real = sight.path.clone();
        let is_folder = matches!(sight.found, Found::Folder(_));
        plan.sight = Some(sight);
        self.set_plan(session, call, Plan::Read(plan.clone()));
        let kind = |is_folder| if is_folder { Kind::Folder } else { Kind::File };
        // A file that is not there is looked for in its folder, and that is what the person is asked about.
        let may_go = if self.profile.shows_resolved_paths {
            self.may_go(session, call, &real, &real, kind(is_folder || is_missing))
        } else {
            self.may_go(session, call, &given, &path, kind(is_folder))
        };
        if may_go {
            self.ask_to_read(session, call, *plan);
        }
    }

    pub(super) fn ask_to_read(&mut self, session: &str, call: usize, plan: ReadPlan) {
        let Some(directory) = self.sessions.get(session).map(|owner| owner.directory.clone()) else { return };
        let mut patterns = vec![plan.place.relative.clone()];
        if let (true, Some(sight)) = (self.profile.shows_resolved_paths, &plan.sight) {
            let real = super::relative(&self.worktree_of(&directory), &sight.path);
            if !patterns.contains(&real) {
                patterns.push(real);
            }
        }
        self.set_plan(session, call, Plan::Read(Box::new(plan)));
        let wish = Wish { permission: "read", patterns, metadata: json!({}), always: vec!["*".to_owned()] };
        self.ask_or_allow(session, call, &wish);
    }

    pub(super) fn read(&mut self, session: &str, call: usize, plan: ReadPlan) {
        let ReadPlan { place, window, sight: Some(sight) } = plan else { return };
        if let Some(why) = sight.closed {
            self.fail_call(session, call, &why);
            return;
        }
        let guides = match sight.found {
            Found::File(_) => {
                // Those of the session's own folder and above it the agent knows from the beginning.
                let here = self.sessions.get(session).map_or("", |owner| owner.directory.as_str());
                let is_below = |(path, _): &(String, String)| {
                    super::inside(here, path).is_some_and(|way| way.contains('/'))
                };
                let guides = sight.guides.into_iter().filter(is_below).collect();
                self.new_guides(session, guides)
            }
            _ => Vec::new(),
        };
        let loaded: Vec<&String> = guides.iter().map(|(path, _)| path).collect();
        if let (Found::File(content), Some(kind)) = (&sight.found, kinds::shown(&place.path, &sight.found)) {
            let result = shown_as_it_is(kind, content, &place, &loaded);
            self.tell_output(session, call, kinds::told(kind));
            self.complete_call(session, call, result);
            return;
        }
        match self.reading(&place, window, &sight.path, sight.found) {
            Err(message) => self.fail_call(session, call, &message),
            Ok(reading) => {
                let Reading { output, preview, is_truncated, display } = reading;
                let output = output + &guides::reminder(&guides);
                self.tell_output(session, call, &output);
                let metadata = json!({"preview": preview, "truncated": is_truncated, "loaded": loaded, "display": display});
                let title = place.relative;
                let result = Completed { output, title, metadata, ..Completed::default() };
                self.complete_call(session, call, result);
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
            number.map_or(usual, |number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        let limit = number(limit, LINES_MAX).max(self.profile.least_lines);
        let window = Window { offset: number(offset, 1).max(1), limit };
        self.reading(&place, window, super::whole_path(path).as_str(), found).map(|reading| reading.output)
    }

    fn reading(&self, place: &Place, window: Window, real: &str, found: Found) -> Result<Reading, String> {
        let given = &place.given;
        let shown = if self.profile.shows_resolved_paths { real } else { given };
        match found {
            Found::Folder(entries) => Ok(folder::reading(shown, entries, window)),
            Found::File(content) => {
                let content = match self.profile.reads_notebooks.then(|| kinds::notebook(given, &content)) {
                    Some(Some(text)) => text.into_bytes(),
                    _ => content,
                };
                file_reading(shown, given, &content, window)
            }
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

/// An image or a PDF goes to the model as it is; what only calls itself an image does not.
fn shown_as_it_is(kind: &'static str, content: &[u8], place: &Place, loaded: &[&String]) -> Completed {
    let told = kinds::told(kind);
    let metadata = json!({"preview": told, "truncated": false, "loaded": loaded});
    let shown = Completed { title: place.relative.clone(), metadata, ..Completed::default() };
    shown.showing(told, kind.into(), content)
}

/// What is shown names the file by `path`; what fails names it as it was `given`.
fn file_reading(path: &str, given: &str, content: &[u8], window: Window) -> Result<Reading, String> {
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
