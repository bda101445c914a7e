//! `edit`: some words of a file are replaced. Asked for as `write` is, and told with the same diff.

use super::write::{Change, WritePlan, without_mark};
use super::{Place, Plan};
use crate::world::{Effect, Found, Purpose, World};

/// An edit, until it is known what the file holds.
#[derive(Debug, Clone)]
pub(crate) struct EditPlan {
    place: Place,
    old: String,
    new: String,
    everywhere: bool,
}

const SAME: &str = "No changes to apply: oldString and newString are identical.";
const NOTHING_TO_REPLACE: &str = "oldString cannot be empty when editing an existing file. Provide the exact text to \
                                  replace, or use write for an intentional full-file replacement.";
const NOT_FOUND: &str = "Could not find oldString in the file. It must match exactly, including whitespace, \
                         indentation, and line endings.";
const AMBIGUOUS: &str =
    "Found multiple matches for oldString. Provide more surrounding context to make the match unique.";

impl World {
    /// What is wrong with an edit whatever the file holds.
    pub(super) fn vain_edit(&self, session: &str, call: usize) -> Option<String> {
        let text = |name| self.text_argument(session, call, name);
        (text("oldString")? == text("newString")?).then(|| SAME.to_owned())
    }

    pub(super) fn start_edit(&mut self, session: &str, call: usize) {
        let Some(place) = self.place_argument(session, call) else { return };
        let text = |name| self.text_argument(session, call, name);
        let (Some(old), Some(new)) = (text("oldString"), text("newString")) else { return };
        let everywhere =
            self.argument(session, call, "replaceAll").and_then(serde_json::Value::as_bool).unwrap_or(false);
        let path = place.path.clone();
        self.set_plan(session, call, Plan::Edit(EditPlan { place, old, new, everywhere }));
        self.effect(Purpose::CallRead(session.to_owned(), call), Effect::Read { path });
    }

    /// It is known what the file holds: the edit becomes a write.
    pub(super) fn file_to_edit(&mut self, session: &str, call: usize, plan: &EditPlan, found: &Found) {
        let Place { path, relative, .. } = plan.place.clone();
        let edited = match found {
            Found::Nothing { .. } if plan.old.is_empty() => {
                let (content, has_mark) = without_mark(&plan.new);
                Ok((None, content, has_mark))
            }
            Found::Nothing { .. } => Err(format!("File {path} not found")),
            _ if plan.old.is_empty() => Err(NOTHING_TO_REPLACE.to_owned()),
            Found::Folder(_) | Found::Tree(_) => Err(format!("Path is a directory, not a file: {path}")),
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
                let plan = WritePlan { path, relative, before, content, has_mark, change: Change::Edit };
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

/// The words as they stand are looked for first, then lines that differ at their ends only.
fn replaced(text: &str, old: &str, new: &str, everywhere: bool) -> Result<String, String> {
    let mut is_found = false;
    for words in std::iter::once(old).chain(similar_lines(text, old)) {
        let Some(first) = text.find(words) else { continue };
        is_found = true;
        if everywhere {
            return Ok(text.replace(words, new));
        }
        if text.rfind(words) == Some(first) {
            return Ok(format!("{}{new}{}", &text[..first], &text[first + words.len()..]));
        }
    }
    Err(if is_found { AMBIGUOUS } else { NOT_FOUND }.to_owned())
}

/// The places of a text whose lines are the wanted ones, but for the space around each.
fn similar_lines<'t>(text: &'t str, wanted: &str) -> Vec<&'t str> {
    let mut wanted: Vec<&str> = wanted.split('\n').map(str::trim).collect();
    if wanted.last() == Some(&"") {
        wanted.pop();
    }
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    let end_of = |line: usize| starts.get(line + 1).map_or(text.len(), |next| next - 1);
    let line = |at: usize| text[starts[at]..end_of(at)].trim();
    let count = wanted.len();
    if count == 0 || count > starts.len() {
        return Vec::new();
    }
    (0..=starts.len() - count)
        .filter(|first| wanted.iter().enumerate().all(|(at, wanted)| line(first + at) == *wanted))
        .map(|first| &text[starts[first]..end_of(first + count - 1)])
        .collect()
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
