//! Two contents → a diff, in the spelling of each server.

use super::line_diff::{self, Fate, Run, lines};
use super::{FileChange, git_diff};
use crate::javascript::{first_units, is_space, units};
use crate::profile::DiffStyle;
use serde_json::Value;
use sha1::{Digest as _, Sha1};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// Lines of context around a change: the tools of the servers show four, git three.
const TOOL_CONTEXT: usize = 4;
const GIT_CONTEXT: usize = 3;

/// How the `---` and `+++` lines of an `Index:` diff end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// With the name.
    Plain,
    /// With a tab behind the name, where a date could be.
    Tab,
}

/// Lines added and removed; nobody counts those of what is no text.
pub(crate) fn count(change: &FileChange) -> (usize, usize) {
    if change.is_binary() {
        return (0, 0);
    }
    count_texts(change.before.as_deref().unwrap_or_default(), change.after.as_deref().unwrap_or_default())
}

/// Lines added and removed.
pub(crate) fn count_texts(before: &str, after: &str) -> (usize, usize) {
    let runs = line_diff::runs(&lines(before), &lines(after));
    let of = |fate| runs.iter().filter(|run| run.fate == fate).map(|run| run.count).sum();
    (of(Fate::Added), of(Fate::Removed))
}

/// The diff of a file in a summary. What a summary knows of a file with a quoted name, it looks for under that name:
/// it finds nothing. What is no text has none.
pub(crate) fn of_change(change: &FileChange, style: DiffStyle) -> String {
    if change.is_binary() {
        return String::new();
    }
    let name = git_name(&change.path);
    let is_quoted = name != change.path;
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    match style {
        DiffStyle::Git if is_quoted => String::new(),
        DiffStyle::Git => of_git(change),
        DiffStyle::Index => {
            let mut text = index_header(&name, Header::Tab);
            if !is_quoted {
                let (before, after) = (without_mark(before), without_mark(after));
                text.push_str(&hunks(before, after, usize::MAX / 4, Writer::Tool));
            }
            text
        }
    }
}

/// A path as git spells it: in quotes and with escapes, if there are quotes, backslashes or control characters in it.
pub(crate) fn git_name(path: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| !letter.is_ascii_control() && letter != '"' && letter != '\\';
    if path.chars().all(is_plain) {
        return Cow::Borrowed(path);
    }
    let mut name = String::from('"');
    for letter in path.chars() {
        match letter {
            '"' | '\\' => name.extend(['\\', letter]),
            '\x07' => name.push_str("\\a"),
            '\x08' => name.push_str("\\b"),
            '\t' => name.push_str("\\t"),
            '\n' => name.push_str("\\n"),
            '\x0b' => name.push_str("\\v"),
            '\x0c' => name.push_str("\\f"),
            '\r' => name.push_str("\\r"),
            control if control.is_ascii_control() => {
                let _ = write!(name, "\\{:03o}", u32::from(control));
            }
            plain => name.push(plain),
        }
    }
    name.push('"');
    Cow::Owned(name)
}

/// The name of a diff's file as it is, without git's quotes.
pub(crate) fn unquote_name(diff: &mut Value) {
    if let Some(name) = diff["file"].as_str().and_then(unquoted) {
        diff["file"] = Value::String(name);
    }
}

fn unquoted(name: &str) -> Option<String> {
    let inner = name.strip_prefix('"')?.strip_suffix('"')?;
    let mut plain = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        plain.push(match letters.next()? {
            'a' => '\x07',
            'b' => '\x08',
            't' => '\t',
            'n' => '\n',
            'v' => '\x0b',
            'f' => '\x0c',
            'r' => '\r',
            digit @ '0'..='3' => {
                let octal: String = [digit, letters.next()?, letters.next()?].iter().collect();
                char::from(u8::from_str_radix(&octal, 8).ok()?)
            }
            other => other,
        });
    }
    Some(plain)
}

/// The diff of one file, as git writes it.
pub(crate) fn of_git(change: &FileChange) -> String {
    git_style(change, GIT_CONTEXT)
}

/// The same with so many lines around each change.
pub(crate) fn of_git_within(change: &FileChange, context: usize) -> String {
    git_style(change, context.min(usize::MAX / 4))
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// `Index: …`, as the tools of the servers write it.
pub(crate) fn index_style(path: &str, before: &str, after: &str, header: Header) -> String {
    let mut text = index_header(path, header);
    text.push_str(&hunks(before, after, TOOL_CONTEXT, Writer::Tool));
    text
}

/// The same without the indent that all of its lines share.
pub(crate) fn without_indent(diff: &str) -> String {
    let is_content = |line: &&str| {
        line.starts_with(['+', '-', ' ']) && !line.starts_with("---") && !line.starts_with("+++")
    };
    let indent = |line: &str| {
        let indent = line.find(|letter: char| !is_space(letter))?;
        Some(units(&line[..indent]))
    };
    let shared = diff.split('\n').filter(is_content).filter_map(|line| indent(&line[1..])).min();
    let Some(shared) = shared.filter(|shared| *shared > 0) else { return diff.to_owned() };
    let shortened = diff.split('\n').map(|line| {
        if is_content(&line) {
            Cow::Owned(format!("{}{}", &line[..1], &line[1 + first_units(&line[1..], shared).len()..]))
        } else {
            Cow::Borrowed(line)
        }
    });
    shortened.collect::<Vec<_>>().join("\n")
}

fn index_header(path: &str, header: Header) -> String {
    let tab = if header == Header::Tab { "\t" } else { "" };
    let rule = "=".repeat(67);
    format!("Index: {path}\n{rule}\n--- {path}{tab}\n+++ {path}{tab}\n")
}

fn git_style(change: &FileChange, context: usize) -> String {
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    let path = &change.path;
    let mut text = format!("diff --git a/{path} b/{path}\n");
    let (from, to) = (&change.blobs.0, &change.blobs.1);
    let (old, new) = (format!("a/{path}"), format!("b/{path}"));
    let (old_mode, new_mode) = change.modes;
    let (old, new, index) = match (&change.before, &change.after) {
        (None, _) => {
            let _ = writeln!(text, "new file mode {new_mode}");
            ("/dev/null".to_owned(), new, format!("index {from}..{to}\n"))
        }
        (_, None) => {
            let _ = writeln!(text, "deleted file mode {old_mode}");
            (old, "/dev/null".to_owned(), format!("index {from}..{to}\n"))
        }
        _ if old_mode == new_mode => (old, new, format!("index {from}..{to} {new_mode}\n")),
        _ => {
            let _ = writeln!(text, "old mode {old_mode}\nnew mode {new_mode}");
            (old, new, format!("index {from}..{to}\n"))
        }
    };
    if from != to {
        text.push_str(&index);
    }
    if change.is_binary() {
        return if from == to { text } else { format!("{text}Binary files {old} and {new} differ\n") };
    }
    let hunks = hunks(before, after, context, Writer::Git);
    if !hunks.is_empty() {
        // A tab tells where a name with a space in it ends.
        let tab = |name: &str| if name.contains(' ') { "\t" } else { "" };
        let _ = writeln!(text, "--- {old}{}\n+++ {new}{}", tab(&old), tab(&new));
        text.push_str(&hunks);
    }
    text
}

/// The id that git gives a file's content.
pub(crate) fn git_blob(content: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", content.len()));
    hash.update(content);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Who writes the hunks: that decides which of several shortest changes is told, and how their headers look.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Tool,
    /// A count of one is left out, and the line above that begins a section is named.
    Git,
}

/// Changes that are near each other, with the kept lines around them.
struct Hunk {
    old: Range<usize>,
    new: Range<usize>,
    runs: Vec<Run>,
}

fn hunks(before: &str, after: &str, context: usize, writer: Writer) -> String {
    let (old, new) = (lines(before), lines(after));
    let runs = match writer {
        Writer::Tool => line_diff::runs(&old, &new),
        Writer::Git => git_diff::runs(&old, &new),
    };
    let mut text = String::new();
    let (mut section, mut looked_at) = ("", 0);
    for hunk in grouped(&runs, context) {
        let _ = write!(text, "@@ -{} +{} @@", range(&hunk.old, writer), range(&hunk.new, writer));
        if writer == Writer::Git {
            let above = old.get(looked_at..hunk.old.start).unwrap_or_default();
            section = above.iter().rev().find_map(|line| section_name(line)).unwrap_or(section);
            looked_at = hunk.old.start;
            if !section.is_empty() {
                text.push(' ');
                text.push_str(section);
            }
        }
        text.push('\n');
        let (mut at, mut to) = (hunk.old.start, hunk.new.start);
        for Run { fate, count } in hunk.runs {
            let (sign, shown) = match fate {
                Fate::Kept => (' ', &old[at..at + count]),
                Fate::Removed => ('-', &old[at..at + count]),
                Fate::Added => ('+', &new[to..to + count]),
            };
            at += if fate == Fate::Added { 0 } else { count };
            to += if fate == Fate::Removed { 0 } else { count };
            for line in shown {
                text.push(sign);
                text.push_str(line);
                if !line.ends_with('\n') {
                    text.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
    }
    text
}

fn grouped(runs: &[Run], context: usize) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let (mut at, mut to) = (0, 0);
    let mut open: Option<Hunk> = None;
    for (place, run) in runs.iter().enumerate() {
        let count = run.count;
        if run.fate != Fate::Kept {
            let hunk = open.get_or_insert_with(|| {
                let above = if place == 0 { 0 } else { context.min(at) };
                let kept = Run { fate: Fate::Kept, count: above };
                let runs = if above == 0 { Vec::new() } else { vec![kept] };
                Hunk { old: at - above..at, new: to - above..to, runs }
            });
            hunk.runs.push(*run);
        } else if let Some(mut hunk) = open.take() {
            let is_last = place + 1 == runs.len();
            let is_near = count <= context.saturating_mul(2) && !is_last;
            let shown = if is_near { count } else { count.min(context) };
            if shown > 0 {
                hunk.runs.push(Run { fate: Fate::Kept, count: shown });
            }
            if is_near {
                open = Some(hunk);
            } else {
                hunks.push(Hunk { old: hunk.old.start..at + shown, new: hunk.new.start..to + shown, ..hunk });
            }
        }
        at += if run.fate == Fate::Added { 0 } else { count };
        to += if run.fate == Fate::Removed { 0 } else { count };
    }
    hunks.extend(open.map(|hunk| Hunk { old: hunk.old.start..at, new: hunk.new.start..to, ..hunk }));
    hunks
}

/// How much of a line names a section, in bytes.
const SECTION_MAX: usize = 80;

/// What git takes for the beginning of a section: a line that begins with a letter.
fn section_name(line: &str) -> Option<&str> {
    if !line.starts_with(|letter: char| letter.is_ascii_alphabetic() || matches!(letter, '_' | '$')) {
        return None;
    }
    let end = (0..=line.len().min(SECTION_MAX)).rev().find(|end| line.is_char_boundary(*end));
    Some(
        line[..end.unwrap_or(0)]
            .trim_end_matches(|letter: char| letter.is_ascii_whitespace() || letter == '\x0b'),
    )
}

fn range(lines: &Range<usize>, writer: Writer) -> String {
    let count = lines.len();
    let start = if count == 0 { lines.start } else { lines.start + 1 };
    if count == 1 && writer == Writer::Git { start.to_string() } else { format!("{start},{count}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_spelled_as_each_server_spells_it() {
        let change = FileChange::of_texts("out.txt", None, Some("hello\n"));
        let rule = "===================================================================";
        assert_eq!(
            of_change(&change, DiffStyle::Git),
            "diff --git a/out.txt b/out.txt\nnew file mode 100644\nindex 0000000..ce01362\n--- /dev/null\n+++ b/out.txt\n@@ -0,0 +1 @@\n+hello\n"
        );
        assert_eq!(
            of_change(&change, DiffStyle::Index),
            format!("Index: out.txt\n{rule}\n--- out.txt\t\n+++ out.txt\t\n@@ -0,0 +1,1 @@\n+hello\n")
        );
        assert_eq!(
            index_style("/w/out.txt", "", "hello\n", Header::Plain),
            format!("Index: /w/out.txt\n{rule}\n--- /w/out.txt\n+++ /w/out.txt\n@@ -0,0 +1,1 @@\n+hello\n")
        );
        assert_eq!(count(&change), (1, 0));
    }

    #[test]
    fn an_indent_that_all_lines_share_is_left_out() {
        let diff = index_style("/a", "    a\n\n        b\n", "    a\n\n        c\n", Header::Plain);
        let shown = without_indent(&diff);
        assert!(shown.ends_with("@@ -1,3 +1,3 @@\n a\n \n-    b\n+    c\n"), "{shown}");
        let diff = index_style("/a", "a\n  b\n", "a\n  c\n", Header::Plain);
        assert_eq!(without_indent(&diff), diff);
    }

    #[test]
    fn another_mode_is_told() {
        let same = FileChange::of_texts("a", Some("a\n"), Some("a\n"));
        let change = FileChange { modes: ("100644", "100755"), ..same };
        let diff = "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n";
        assert_eq!(of_change(&change, DiffStyle::Git), diff);
    }

    #[test]
    fn a_hunk_of_git_names_its_section() {
        let before: String =
            (0..20).map(|n| if n == 3 { "fn f() {  \n".into() } else { format!(" {n}\n") }).collect();
        let after = before.replace(" 9\n", " nine\n").replace(" 19\n", " end\n");
        let change = FileChange::of_texts("a", Some(&before), Some(&after));
        let diff = of_change(&change, DiffStyle::Git);
        assert!(diff.contains("@@ -7,7 +7,7 @@ fn f() {\n"), "{diff}");
        assert!(diff.contains("@@ -17,4 +17,4 @@ fn f() {\n"), "{diff}");
    }

    #[test]
    fn a_name_is_quoted_as_git_quotes_it() {
        for plain in ["a b.txt", "größe.txt", "it's.txt", "a/b-c.txt"] {
            assert_eq!(git_name(plain), plain);
            assert_eq!(unquoted(plain), None);
        }
        for odd in ["say \"q\".txt", "tab\there", "a\\b\x01\x7f\n"] {
            assert_eq!(unquoted(&git_name(odd)).as_deref(), Some(odd));
        }
        // The first two were seen on the real servers, the rest with git itself.
        assert_eq!(git_name("say \"q\".txt"), "\"say \\\"q\\\".txt\"");
        assert_eq!(git_name("tab\there.txt"), "\"tab\\there.txt\"");
        assert_eq!(git_name("a\\b\x01\x7f"), "\"a\\\\b\\001\\177\"");
    }
}
