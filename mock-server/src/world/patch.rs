//! Two contents → a diff, in the spelling of each server.

use super::FileChange;
use crate::profile::DiffStyle;
use serde_json::Value;
use sha1::{Digest as _, Sha1};
use similar::{ChangeTag, TextDiff};
use std::borrow::Cow;
use std::fmt::Write as _;

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

/// Lines added and removed.
pub(crate) fn count(change: &FileChange) -> (usize, usize) {
    count_texts(change.before.as_deref().unwrap_or_default(), change.after.as_deref().unwrap_or_default())
}

/// Lines added and removed.
pub(crate) fn count_texts(before: &str, after: &str) -> (usize, usize) {
    let diff = TextDiff::from_lines(before, after);
    let tagged = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    (tagged(ChangeTag::Insert), tagged(ChangeTag::Delete))
}

/// The diff of a file in a summary. What a summary knows of a file with a quoted name, it looks for under that name:
/// it finds nothing.
pub(crate) fn of_change(change: &FileChange, style: DiffStyle) -> String {
    let name = git_name(&change.path);
    let is_quoted = name != change.path;
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    match style {
        DiffStyle::Git if is_quoted => String::new(),
        DiffStyle::Git => git_style(change, before, after),
        DiffStyle::Index => {
            let mut text = index_header(&name, Header::Tab);
            if !is_quoted {
                let (before, after) = (without_mark(before), without_mark(after));
                text.push_str(&hunks(before, after, usize::MAX / 4, Counts::Always));
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

/// The diff of all files, as git writes it.
pub(crate) fn whole(changes: &[FileChange]) -> String {
    let diffs = changes.iter().map(|change| {
        let (before, after) = (change.before.as_deref(), change.after.as_deref());
        git_style(change, before.unwrap_or_default(), after.unwrap_or_default())
    });
    diffs.collect::<String>().trim().to_owned()
}

/// The diff of one file, as git writes it.
pub(crate) fn of_git(change: &FileChange) -> String {
    let (before, after) = (change.before.as_deref(), change.after.as_deref());
    git_style(change, before.unwrap_or_default(), after.unwrap_or_default())
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// `Index: …`, as the tools of the servers write it.
pub(crate) fn index_style(path: &str, before: &str, after: &str, header: Header) -> String {
    let mut text = index_header(path, header);
    text.push_str(&hunks(before, after, TOOL_CONTEXT, Counts::Always));
    text
}

fn index_header(path: &str, header: Header) -> String {
    let tab = if header == Header::Tab { "\t" } else { "" };
    let rule = "=".repeat(67);
    format!("Index: {path}\n{rule}\n--- {path}{tab}\n+++ {path}{tab}\n")
}

fn git_style(change: &FileChange, before: &str, after: &str) -> String {
    let path = &change.path;
    let mut text = format!("diff --git a/{path} b/{path}\n");
    let blob = |content: &Option<String>| match content {
        Some(content) => git_blob(content.as_bytes())[..7].to_owned(),
        None => "0000000".to_owned(),
    };
    let (from, to) = (blob(&change.before), blob(&change.after));
    let (old, new) = (format!("a/{path}"), format!("b/{path}"));
    let (old, new, index) = match (&change.before, &change.after) {
        (None, _) => {
            text.push_str("new file mode 100644\n");
            ("/dev/null".to_owned(), new, format!("index {from}..{to}\n"))
        }
        (_, None) => {
            text.push_str("deleted file mode 100644\n");
            (old, "/dev/null".to_owned(), format!("index {from}..{to}\n"))
        }
        _ => (old, new, format!("index {from}..{to} 100644\n")),
    };
    text.push_str(&index);
    let hunks = hunks(before, after, GIT_CONTEXT, Counts::OmitOne);
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

/// How a hunk's header counts its lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    Always,
    /// A count of one is left out.
    OmitOne,
}

fn hunks(before: &str, after: &str, context: usize, counts: Counts) -> String {
    let diff = TextDiff::from_lines(before, after);
    let mut text = String::new();
    for group in diff.grouped_ops(context) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let old = first.old_range().start..last.old_range().end;
        let new = first.new_range().start..last.new_range().end;
        let _ = writeln!(text, "@@ -{} +{} @@", range(&old, counts), range(&new, counts));
        for op in &group {
            for change in diff.iter_changes(op) {
                let sign = match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                };
                text.push(sign);
                text.push_str(change.value());
                if change.missing_newline() {
                    text.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
    }
    text
}

fn range(lines: &std::ops::Range<usize>, counts: Counts) -> String {
    let count = lines.len();
    let start = if count == 0 { lines.start } else { lines.start + 1 };
    if count == 1 && counts == Counts::OmitOne { start.to_string() } else { format!("{start},{count}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_spelled_as_each_server_spells_it() {
        let change = FileChange { path: "out.txt".into(), before: None, after: Some("hello\n".into()) };
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
