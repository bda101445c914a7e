//! Settings as people write them: JSON with comments, and with commas behind the last.

use serde_json::{Map, Value, json};

/// What a text of settings says, JSON with comments and with commas behind the last; `None` when it is no such JSON.
#[must_use]
pub fn read(text: &str) -> Option<Value> {
    if text.trim().is_empty() {
        return Some(json!({}));
    }
    serde_json::from_str(&without_commas(&without_comments(text))).ok()
}

/// The text with its schema in it, as a server adds it: in a line of its own; one that writes all in one line is, where
/// servers are tidy, spread out.
pub(super) fn with_schema(text: &str, settings: &Map<String, Value>, schema: &str, is_tidy: bool) -> String {
    let rest = text.trim_start().strip_prefix('{').unwrap_or_default();
    if is_tidy && !rest.trim().contains('\n') {
        let mut all = Map::from_iter([("$schema".to_owned(), json!(schema))]);
        all.extend(settings.clone());
        let spread = serde_json::to_string_pretty(&all).unwrap_or_default();
        return format!("{spread}{}", &text[text.trim_end().len()..]);
    }
    format!("{{\n  \"$schema\": \"{schema}\",{rest}")
}

/// Comments become spaces; what stands in strings stays.
fn without_comments(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut in_string = false;
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(_)) if in_string => {
                made.push(letter);
                made.extend(letters.next());
                continue;
            }
            ('"', _) => in_string = !in_string,
            ('/', Some('/')) if !in_string => {
                while letters.next_if(|letter| *letter != '\n').is_some() {}
                continue;
            }
            ('/', Some('*')) if !in_string => {
                letters.next();
                let mut before = ' ';
                for letter in letters.by_ref() {
                    if (before, letter) == ('*', '/') {
                        break;
                    }
                    before = letter;
                }
                continue;
            }
            _ => {}
        }
        made.push(letter);
    }
    made
}

/// A comma before a closing bracket goes.
fn without_commas(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut in_string = false;
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        let is_quote = letter == '"' && !is_escaped;
        is_escaped = in_string && letter == '\\' && !is_escaped;
        in_string ^= is_quote;
        let closes = || text[at + 1..].trim_start().starts_with(['}', ']']);
        if letter == ',' && !in_string && closes() {
            continue;
        }
        made.push(letter);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_are_no_part_of_it() {
        let text = "{ // one\n \"a\": \"x // y, }\\\"\", /* two\n*/ \"b\": [1, 2,],\n}";
        assert_eq!(read(text), Some(json!({"a": "x // y, }\"", "b": [1, 2]})));
        assert_eq!((read(" "), read("{")), (Some(json!({})), None));
    }

    #[test]
    fn a_schema_is_added_as_each_server_does_it() {
        let add =
            |text: &str, is_tidy| with_schema(text, read(text).unwrap().as_object().unwrap(), "S", is_tidy);
        let lines = "{\n  // one\n  \"a\": 1,\n}\n";
        assert_eq!(add(lines, true), "{\n  \"$schema\": \"S\",\n  // one\n  \"a\": 1,\n}\n");
        assert_eq!(add("{\"a\":1}\n", false), "{\n  \"$schema\": \"S\",\"a\":1}\n");
        assert_eq!(add("{\"a\":1}\n", true), "{\n  \"$schema\": \"S\",\n  \"a\": 1\n}\n");
    }
}
