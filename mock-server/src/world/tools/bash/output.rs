//! What a shell line has printed: how much of it is shown while it runs, and how much the agent gets.

use crate::world::tools::bounds::Bounds;

/// While it runs, so many letters of the end are shown.
const SHOWN: usize = 30_000;
const NOTHING: &str = "(no output)";

/// All that was printed so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Output {
    all: String,
    shown: String,
}

/// What the agent gets.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) text: String,
    pub(super) is_cut: bool,
}

impl Output {
    /// Something was printed; what is shown now.
    pub(super) fn add(&mut self, text: &str) -> &str {
        self.all.push_str(text);
        self.shown.push_str(text);
        if let Some(end) = end_of(&self.shown, SHOWN) {
            self.shown = format!("...\n\n{end}");
        }
        &self.shown
    }

    /// What is within the bounds of the end.
    pub(super) fn cut(&self, bounds: Bounds) -> Cut {
        let text = last_lines(&self.all, bounds);
        let is_cut = text.len() < self.all.len();
        Cut { text: if text.is_empty() { NOTHING } else { text }.to_owned(), is_cut }
    }

    /// All of it, and no more of it here.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.all)
    }

    /// What is shown when all is over, and the agent got `told`.
    pub(super) fn shown_at_end(&self, told: &str) -> String {
        let of_nothing =
            || end_of(told, SHOWN).map_or_else(|| told.to_owned(), |end| format!("...\n\n{end}"));
        if self.shown.is_empty() { of_nothing() } else { self.shown.clone() }
    }
}

/// Adds how the line ended, where that is not its own doing.
pub(super) fn with_note(text: String, note: Option<String>) -> String {
    match note {
        Some(note) => format!("{text}\n\n<shell_metadata>\n{note}\n</shell_metadata>"),
        None => text,
    }
}

/// The last letters of a text that is longer.
fn end_of(text: &str, max: usize) -> Option<&str> {
    let count = text.chars().count();
    let first = text.char_indices().nth(count.checked_sub(max).filter(|over| *over > 0)?)?;
    Some(&text[first.0..])
}

/// The last lines that are not too many and not too long. What is behind the last line end counts as a line.
fn last_lines(text: &str, bounds: Bounds) -> &str {
    let mut from = text.len();
    let starts = text.match_indices('\n').map(|(at, _)| at + 1).rev().chain(std::iter::once(0));
    for start in starts.take(bounds.lines) {
        if text.len() - start > bounds.bytes {
            break;
        }
        from = start;
    }
    if from == text.len() && !text.ends_with('\n') {
        // A line that is too long by itself.
        let end = (text.len().saturating_sub(bounds.bytes)..text.len()).find(|at| text.is_char_boundary(*at));
        from = end.unwrap_or(from);
    }
    &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_is_given_whole() {
        let mut output = Output::default();
        assert_eq!(output.cut(Bounds::default()).text, NOTHING);
        assert_eq!(output.add("one\n"), "one\n");
        assert_eq!(output.add("two"), "one\ntwo");
        let cut = output.cut(Bounds::default());
        assert!(!cut.is_cut);
        assert_eq!(cut.text, "one\ntwo");
        assert_eq!(
            with_note(cut.text, Some("note".into())),
            "one\ntwo\n\n<shell_metadata>\nnote\n</shell_metadata>"
        );
    }

    #[test]
    fn of_what_is_long_the_end_is_given() {
        let mut output = Output::default();
        let lines: String = (0..3000).map(|n| format!("{n}\n")).collect();
        output.add(&lines);
        let cut = output.cut(Bounds::default());
        assert!(cut.is_cut);
        assert!(cut.text.starts_with("1001\n"), "{}", &cut.text[..60]);
        assert!(cut.text.ends_with("2999\n"));
        let shown = output.add(&"x".repeat(40_000)).to_owned();
        assert_eq!(shown.len(), SHOWN + 5);
        let bounds = Bounds::default();
        assert_eq!(last_lines(&format!("a\n{}é", "x".repeat(bounds.bytes)), bounds).len(), bounds.bytes);
        assert_eq!(last_lines(&format!("{}\n", "x".repeat(bounds.bytes + 1)), bounds), "");
    }
}
