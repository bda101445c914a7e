//! A command's template, and what is said with the command.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use regex::Regex;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// What an address of a file hides.
const PATH: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'`');

#[expect(clippy::unwrap_used, reason = "the patterns are constants, and a test compiles them")]
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\$(\d+)").unwrap());
#[expect(clippy::unwrap_used, reason = "the patterns are constants, and a test compiles them")]
pub(super) static LINE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"!`([^`]+)`").unwrap());
#[expect(clippy::unwrap_used, reason = "the patterns are constants, and a test compiles them")]
static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?i)(?:\[Image\s+\d+\]|"[^"]*"|'[^']*'|[^\s"']+)"#).unwrap());
#[expect(clippy::unwrap_used, reason = "the patterns are constants, and a test compiles them")]
pub(super) static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?:^|[^\w`])@(\.?[^\s`,.]*(?:\.[^\s`,.]+)*)").unwrap());

/// The places of a template that are filled in.
pub(super) fn hints(template: &str) -> Vec<&str> {
    let mut hints: Vec<&str> = NUMBERED.find_iter(template).map(|found| found.as_str()).collect();
    hints.sort_unstable();
    hints.dedup();
    hints.extend(template.contains("$ARGUMENTS").then_some("$ARGUMENTS"));
    hints
}

/// The template with what was said in its places: the last numbered place takes the rest.
pub(super) fn filled_in(template: &str, arguments: &str) -> String {
    let words: Vec<&str> = WORD
        .find_iter(arguments)
        .map(|found| found.as_str())
        .map(|word| word.strip_prefix(['"', '\'']).unwrap_or(word))
        .map(|word| word.strip_suffix(['"', '\'']).unwrap_or(word))
        .collect();
    let number = |found: &regex::Captures<'_>| found[1].parse::<usize>().unwrap_or(usize::MAX);
    let last = NUMBERED.captures_iter(template).map(|found| number(&found)).max();
    let text = NUMBERED.replace_all(template, |found: &regex::Captures<'_>| {
        let Some(at) = number(found).checked_sub(1) else {
            // The servers count from one, and a script's list has nothing before its first word.
            let only = words.last().copied().unwrap_or_default();
            return if last == Some(0) { only } else { "undefined" }.to_owned();
        };
        if at >= words.len() {
            String::new()
        } else if Some(number(found)) == last {
            words[at..].join(" ")
        } else {
            words[at].to_owned()
        }
    });
    let has_place = template.contains("$ARGUMENTS");
    let text = with_arguments(&text, arguments);
    if last.is_none() && !has_place && !arguments.trim().is_empty() {
        format!("{text}\n\n{arguments}")
    } else {
        text
    }
}

/// What the place that is filled in is called.
const ARGUMENTS: &str = "$ARGUMENTS";

/// The servers' language gives a meaning to signs behind a dollar in what it puts in.
pub(super) fn with_arguments(text: &str, arguments: &str) -> String {
    let mut made = String::new();
    let mut at = 0;
    for (start, _) in text.match_indices(ARGUMENTS) {
        made.push_str(&text[at..start]);
        at = start + ARGUMENTS.len();
        let mut rest = arguments;
        while let Some((before, behind)) = rest.split_once('$') {
            made.push_str(before);
            let meant = match behind.chars().next() {
                Some('$') => "$",
                Some('&') => ARGUMENTS,
                Some('`') => &text[..start],
                Some('\'') => &text[at..],
                _ => {
                    made.push('$');
                    rest = behind;
                    continue;
                }
            };
            made.push_str(meant);
            rest = &behind[1..];
        }
        made.push_str(rest);
    }
    made.push_str(&text[at..]);
    made
}

pub(super) fn place_of(name: &str, directory: &str, home: &str) -> String {
    let path = match name.strip_prefix("~/") {
        Some(behind) => format!("{home}/{behind}"),
        None if name.starts_with('/') => name.to_owned(),
        None => format!("{directory}/{name}"),
    };
    super::tools::whole_path(&path)
}

/// A file or folder that a text names, as a part.
pub(super) fn file_part(name: &str, path: &str, mime: &str) -> Value {
    let url = format!("file://{}", utf8_percent_encode(path, PATH));
    json!({"type": "file", "url": url, "filename": name, "mime": mime})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_with_a_command_is_put_into_its_template() {
        for (template, arguments, text) in [
            ("plain", "", "plain"),
            ("plain", "more words", "plain\n\nmore words"),
            ("a $ARGUMENTS b", "one  two", "a one  two b"),
            ("$1 and $2.", "one 'two three' four", "one and two three four."),
            ("$1 and $2.", "one", "one and ."),
            ("$0|$1", "a b", "undefined|a b"),
            ("$0|$0", "a b", "b|b"),
            ("$0", "", ""),
            ("a $ARGUMENTS b", "$$ $& $1 $` $' $", "a $ $ARGUMENTS $1 a   b $ b"),
            ("$ARGUMENTS, $ARGUMENTS", "$&", "$ARGUMENTS, $ARGUMENTS"),
        ] {
            assert_eq!(filled_in(template, arguments), text, "{template:?} {arguments:?}");
        }
    }

    #[test]
    fn names_stand_behind_an_at_sign() {
        let names = |text: &str| -> Vec<String> {
            NAME.captures_iter(text).map(|found| found[1].to_owned()).collect()
        };
        assert_eq!(names("see @README.md, @a/b.txt. and x@y `@z`"), ["README.md", "a/b.txt"]);
        assert_eq!(names("@one @two"), ["one", "two"]);
    }
}
