//! `edit`: some words of a file are replaced. Asked for as `write` is, and told with the same diff.

mod alike;

use super::write::{Change, WritePlan, without_mark};
use super::{Place, Plan};
use crate::javascript::{trimmed, units};
use crate::world::run::{Call, CallState};
use crate::world::{Effect, Found, Purpose, World};

/// An edit, until it is known what the file holds.
#[derive(Debug, Clone)]
pub(crate) struct EditPlan {
    place: Place,
    old: String,
    new: String,
    everywhere: bool,
}

const NAMELESS: &str = "filePath is required";
const SAME: &str = "No changes to apply: oldString and newString are identical.";
const NOTHING_TO_REPLACE: &str = "oldString cannot be empty when editing an existing file. Provide the exact text to \
                                  replace, or use write for an intentional full-file replacement.";
const NOT_FOUND: &str = "Could not find oldString in the file. It must match exactly, including whitespace, \
                         indentation, and line endings.";
const AMBIGUOUS: &str =
    "Found multiple matches for oldString. Provide more surrounding context to make the match unique.";
const TOO_MUCH: &str = "Refusing replacement because the matched span is much larger than oldString. Re-read the file \
                        and provide the full exact oldString for the intended replacement.";

impl World {
    /// What is wrong with an edit whatever the file holds.
    pub(super) fn vain_edit(&self, session: &str, call: usize) -> Option<String> {
        let text = |name| self.text_argument(session, call, name);
        if text("filePath")?.is_empty() {
            return Some(NAMELESS.to_owned());
        }
        (text("oldString")? == text("newString")?).then(|| SAME.to_owned())
    }

    pub(super) fn start_edit(&mut self, session: &str, call: usize) {
        let Some(place) = self.place_to_change(session, call) else { return };
        if self.edits_before(session, call, &place.path) {
            return;
        }
        let text = |name| self.text_argument(session, call, name);
        let (Some(old), Some(new)) = (text("oldString"), text("newString")) else { return };
        let everywhere =
            self.argument(session, call, "replaceAll").and_then(serde_json::Value::as_bool).unwrap_or(false);
        let path = place.path.clone();
        self.set_plan(session, call, Plan::Edit(EditPlan { place, old, new, everywhere }));
        self.effect(Purpose::CallRead(session.to_owned(), call), Effect::Read { path });
    }

    /// Edits of one file come one after the other, whoever asks for them: is one on its way already?
    fn edits_before(&self, session: &str, call: usize, path: &str) -> bool {
        let is_on_its_way = |edit: &Call| edit.plan.is_some();
        self.running_edits(path, is_on_its_way).any(|(of, at, _)| of != session || at != call)
    }

    /// The edits of a file that run and are of this kind: their sessions, their places among the calls, and their begin.
    fn running_edits<'w>(
        &'w self,
        path: &'w str,
        is_meant: impl Fn(&Call) -> bool + Copy + 'w,
    ) -> impl Iterator<Item = (&'w str, usize, u64)> + 'w {
        let runs = self.sessions.iter().filter_map(|(id, owner)| Some((id.as_str(), owner.run.as_ref()?)));
        runs.flat_map(move |(session, run)| {
            let edits = run.calls.iter().enumerate().filter(move |(at, call)| {
                call.tool == "edit"
                    && call.state == CallState::Running
                    && is_meant(call)
                    && self.place_argument(session, *at).is_some_and(|place| place.path == path)
            });
            edits.map(move |(at, call)| (session, at, call.started_ms))
        })
    }

    /// An edit is over: the next one of the same file begins. `goes_on` says whether its turn does.
    pub(in crate::world) fn start_waiting_edit(&mut self, session: &str, done: usize, goes_on: bool) {
        let was_edit = self
            .run_mut(session)
            .is_some_and(|run| run.calls.get(done).is_some_and(|call| call.tool == "edit"));
        let Some(path) = self.place_argument(session, done).filter(|_| was_edit).map(|place| place.path)
        else {
            return;
        };
        let waits = |call: &Call| call.plan.is_none() && call.is_told;
        // Where the turn is cut short, its own edits are, too.
        let waiting = self.running_edits(&path, waits).filter(|(of, ..)| goes_on || *of != session);
        let next = waiting.min_by_key(|(of, at, begun)| (*begun, *of != session, *at));
        if let Some((of, at)) = next.map(|(of, at, _)| (of.to_owned(), at)) {
            self.start_edit(&of, at);
        }
    }

    /// It is known what the file holds: the edit becomes a write.
    pub(super) fn file_to_edit(&mut self, session: &str, call: usize, plan: &EditPlan, found: &Found) {
        let Place { path, given, relative } = plan.place.clone();
        let edited = match found {
            Found::Nothing { .. } if plan.old.is_empty() => {
                let (content, has_mark) = without_mark(&plan.new);
                Ok((None, content, has_mark))
            }
            Found::Nothing { .. } => Err(format!("File {given} not found")),
            _ if plan.old.is_empty() => Err(NOTHING_TO_REPLACE.to_owned()),
            Found::Folder(_) | Found::Tree(_) => Err(format!("Path is a directory, not a file: {given}")),
            Found::File(bytes) => {
                let (before, had_mark) = without_mark(&String::from_utf8_lossy(bytes));
                plan.applied(&before).map(|after| {
                    let (content, has_mark) = without_mark(&after);
                    (Some(before), content, had_mark || has_mark)
                })
            }
        };
        match edited {
            Ok((before, content, has_mark)) => {
                let plan = WritePlan {
                    path,
                    given,
                    relative,
                    before,
                    content,
                    has_mark,
                    change: Change::Edit,
                    formatted: None,
                };
                self.ask_to_write(session, call, plan);
            }
            Err(message) => self.fail_call(session, call, &message),
        }
    }
}

impl EditPlan {
    /// The text after the edit.
    fn applied(&self, before: &str) -> Result<String, String> {
        let ending = if before.contains("\r\n") { "\r\n" } else { "\n" };
        let spelled = |text: &str| text.replace("\r\n", "\n").replace('\n', ending);
        replaced(before, &spelled(&self.old), &spelled(&self.new), self.everywhere)
    }
}

/// The first way to look that finds words which stand in one place decides; with `everywhere`, the first that finds any.
fn replaced(text: &str, old: &str, new: &str, everywhere: bool) -> Result<String, String> {
    let mut is_found = false;
    for words in alike::WAYS.iter().flat_map(|way| way(text, old)) {
        let Some(first) = text.find(&words) else { continue };
        is_found = true;
        if is_much_more(&words, old) {
            return Err(TOO_MUCH.to_owned());
        }
        if everywhere {
            return Ok(replaced_everywhere(text, &words, new));
        }
        if text.rfind(&words) == Some(first) {
            return Ok(format!("{}{new}{}", &text[..first], &text[first + words.len()..]));
        }
    }
    Err(if is_found { AMBIGUOUS } else { NOT_FOUND }.to_owned())
}

/// Would more be replaced than anybody can have meant?
fn is_much_more(found: &str, wanted: &str) -> bool {
    let (lines, wanted_lines) = (found.split('\n').count(), wanted.split('\n').count());
    if lines >= (wanted_lines + 3).max(wanted_lines * 2) {
        return true;
    }
    let (length, wanted) = (units(trimmed(found)), units(trimmed(wanted)));
    wanted_lines > 1 && length > (wanted + 500).max(wanted * 4)
}

/// In the servers' language some signs of the new words stand for others.
fn replaced_everywhere(text: &str, old: &str, new: &str) -> String {
    if !new.contains('$') {
        return text.replace(old, new);
    }
    let mut made = String::new();
    let mut end = 0;
    for (at, _) in text.match_indices(old) {
        made.push_str(&text[end..at]);
        end = at + old.len();
        let mut rest = new;
        while let Some((plain, sign)) = rest.split_once('$') {
            made.push_str(plain);
            let (meant, length) = match sign.as_bytes().first() {
                Some(b'$') => ("$", 1),
                Some(b'&') => (old, 1),
                Some(b'`') => (&text[..at], 1),
                Some(b'\'') => (&text[end..], 1),
                _ => ("$", 0),
            };
            made.push_str(meant);
            rest = &sign[length..];
        }
        made.push_str(rest);
    }
    made.push_str(&text[end..]);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_replaced_where_they_are_meant() {
        let text = "one\n  two\nthree\ntwo\n";
        for (old, new, everywhere, after) in [
            ("one", "ONE", false, Ok("ONE\n  two\nthree\ntwo\n")),
            ("t", "T", false, Err(AMBIGUOUS)),
            ("two", "TWO", true, Ok("one\n  TWO\nthree\nTWO\n")),
            // A line that is alike and is alone is meant, rather than words that stand in two places.
            ("two", "TWO", false, Ok("one\nTWO\nthree\ntwo\n")),
            ("four", "FOUR", false, Err(NOT_FOUND)),
            ("one\ntwo", "x", false, Ok("x\nthree\ntwo\n")),
            ("  three\n  two\n", "y", false, Ok("one\n  two\ny\n")),
            ("one\\n  two\\nthree\\ntwo", "y", false, Err(TOO_MUCH)),
            ("two", "[$&$$]$1$", true, Ok("one\n  [two$]$1$\nthree\n[two$]$1$\n")),
            ("three", "$`|$'", true, Ok("one\n  two\none\n  two\n|\ntwo\n\ntwo\n")),
        ] {
            let after = after.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(replaced(text, old, new, everywhere), after, "{old:?}");
        }
    }

    #[test]
    fn line_ends_of_the_file_stay() {
        let place = Place { path: "/w/a".into(), given: "/w/a".into(), relative: "a".into() };
        let plan = EditPlan { place, old: "a\nb".into(), new: "c\nd".into(), everywhere: false };
        assert_eq!(plan.applied("a\r\nb\r\n").unwrap(), "c\r\nd\r\n");
    }
}
