//! Lengths and numbers as the servers have them: they are JavaScript, which counts UTF-16 units and reads numbers in
//! its own way. Words are sorted as a dictionary has them.

mod dictionary;
mod json;

pub(crate) use dictionary::in_dictionary;
pub(crate) use json::{number_text, parse, settle_fields};
use serde_json::Value;

/// What a value is, in the words of the servers' own checks.
pub(crate) fn kind_of(value: Option<&Value>) -> &'static str {
    match value {
        None => "undefined",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        Some(Value::String(_)) => "string",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(_)) => "object",
    }
}

/// What a value is within a text.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), number_text),
        Value::Array(members) => {
            let member = |value: &Value| if value.is_null() { String::new() } else { text_of(value) };
            members.iter().map(member).collect::<Vec<_>>().join(",")
        }
        Value::Object(_) => "[object Object]".to_owned(),
        plain => plain.to_string(),
    }
}

/// The beginning of a text, of at most `max` units. A letter that does not fit is left out whole.
pub(crate) fn first_units(text: &str, max: usize) -> &str {
    let mut units = 0;
    for (at, letter) in text.char_indices() {
        units += letter.len_utf16();
        if units > max {
            return &text[..at];
        }
    }
    text
}

/// Is a letter space to a pattern, and to what trims a text?
pub(crate) fn is_space(letter: char) -> bool {
    // The mark of a file's beginning is space there, and the end of a line that some old machines have is not.
    letter == '\u{feff}' || letter.is_whitespace() && letter != '\u{85}'
}

/// A text without the space at its ends.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// A text without the space at its end.
pub(crate) fn trimmed_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// How long a text is.
pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The number that a text of a query is; none is `NaN`.
pub(crate) fn number(text: &str) -> Option<f64> {
    match text.trim() {
        "" => Some(0.0),
        text => text.parse().ok().filter(|number: &f64| !number.is_nan()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_what_javascript_calls_so() {
        assert_eq!(trimmed("\u{feff} \n x\u{85}\t\u{a0}"), "x\u{85}");
    }

    #[test]
    fn names_stand_as_in_a_dictionary() {
        let mut names = ["b2", "B", "b-c", "a/", "b_c", ".git/", "é", "b", "README.md", "1", "notes/"];
        names.sort_by(|a, b| in_dictionary(a, b));
        assert_eq!(names, [".git/", "1", "a/", "b", "B", "b_c", "b-c", "b2", "é", "notes/", "README.md"]);
        // Seen on the real servers.
        let sorted = ["😀", "10", "9", "Ä", "e", "E", "é", "f", "ø", "ß", "z", "пять", "日本"];
        let mut names = sorted;
        names.reverse();
        names.sort_by(|a, b| in_dictionary(a, b));
        assert_eq!(names, sorted);
    }

    #[test]
    fn letters_beyond_the_first_plane_are_two() {
        assert_eq!((units("aé😀"), first_units("aé😀b", 3), first_units("aé😀b", 4)), (4, "aé", "aé😀"));
    }

    #[test]
    fn nothing_is_the_number_zero() {
        let numbers = ["", " 2 ", "1e1", "-1", "abc", "NaN"].map(number);
        assert_eq!(numbers, [Some(0.0), Some(2.0), Some(10.0), Some(-1.0), None, None]);
    }
}
