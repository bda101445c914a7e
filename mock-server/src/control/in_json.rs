//! What is said of a fault in the words of a plan's file, in the words of JSON: who sends tables can't write
//! `do = { status = 503 }`.

/// The same words with `"name": value` wherever they have `name = value`.
pub(super) fn in_json(words: &str) -> String {
    let mut json = String::with_capacity(words.len());
    let mut rest = words;
    while let Some((before, after)) = rest.split_once(" = ") {
        rest = after;
        match name_at_end(before) {
            Some(name) if begins_a_value(after) => {
                json.push_str(&before[..before.len() - name.len()]);
                let is_quoted = name.starts_with('"');
                let quote = if is_quoted { "" } else { "\"" };
                json.extend([quote, name, quote, ": "]);
            }
            _ => json.extend([before, " = "]),
        }
    }
    json.push_str(rest);
    json
}

/// The name that stands last, in quotes where it has them.
fn name_at_end(words: &str) -> Option<&str> {
    let start = match words.strip_suffix('"') {
        Some(open) => open.rfind('"')?,
        None => words.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-').len(),
    };
    Some(&words[start..]).filter(|name| !name.is_empty())
}

/// A table, a list, a text, a number, yes or no, or the place of one.
fn begins_a_value(words: &str) -> bool {
    words.starts_with(['{', '[', '"', '…']) || words.starts_with(|c: char| c.is_ascii_digit()) || {
        let word: String = words.chars().take_while(char::is_ascii_alphabetic).collect();
        matches!(&*word, "true" | "false")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_file_become_words_of_a_request() {
        for (toml, json) in [
            ("it is written do = { status = 503 }", "it is written \"do\": { \"status\": 503 }"),
            (
                "times is a number, as in times = 3, or times = \"always\"",
                "times is a number, as in \"times\": 3, or \"times\": \"always\"",
            ),
            ("change = { \"properties.id\" = \"x\" }", "\"change\": { \"properties.id\": \"x\" }"),
            ("say where, as in split = [3, 7]", "say where, as in \"split\": [3, 7]"),
            ("when = { stream = \"event\", … }", "\"when\": { \"stream\": \"event\", … }"),
            ("a = b is no hint, and = neither", "a = b is no hint, and = neither"),
            ("unknown field `é = 1`", "unknown field `é = 1`"),
            (" = 5", " = 5"),
            ("no hint", "no hint"),
        ] {
            assert_eq!(in_json(toml), json);
        }
    }
}
