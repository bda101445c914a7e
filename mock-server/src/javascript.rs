//! Lengths and numbers as the servers have them: they are JavaScript, which counts UTF-16 units and reads numbers in
//! its own way. Words are sorted as a dictionary has them.

mod json;

pub(crate) use json::{number_text, parse, settle_fields};
use serde_json::Value;
use std::cmp::Ordering;

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

/// Signs of ASCII in the order of the servers' dictionary; other signs, digits and letters follow.
const SIGNS: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Letters with marks, by the letters that they stand with.
const MARKED: &[(&str, &str)] = &[
    ("a", "ªáàăâåäãąā"),
    ("ae", "æ"),
    ("c", "ćĉčċç"),
    ("d", "ďđð"),
    ("e", "éèĕêěëėęē"),
    ("g", "ğĝġģ"),
    ("h", "ĥħ"),
    ("i", "íìĭîïĩįīı"),
    ("j", "ĵ"),
    ("k", "ķ"),
    ("l", "ĺľļł"),
    ("n", "ńňñņ"),
    ("o", "ºóòŏôöőõøō"),
    ("oe", "œ"),
    ("r", "ŕřŗ"),
    ("s", "śŝšş"),
    ("ss", "ß"),
    ("t", "ťţŧ"),
    ("u", "úùŭûůüűũųū"),
    ("w", "ŵ"),
    ("y", "ýŷÿ"),
    ("z", "źžż"),
];

/// First by letters whatever their marks and their case, then those without marks, then small letters first.
pub(crate) fn in_dictionary(a: &str, b: &str) -> Ordering {
    let (a, b) = (Word::of(a), Word::of(b));
    a.letters.cmp(&b.letters).then_with(|| a.marks.cmp(&b.marks)).then_with(|| a.capitals.cmp(&b.capitals))
}

/// What a name is sorted by.
#[derive(Default)]
struct Word {
    /// The kind of each sign or letter, and its place among those.
    letters: Vec<(u8, u32)>,
    marks: Vec<usize>,
    capitals: Vec<bool>,
}

impl Word {
    fn of(name: &str) -> Self {
        let mut word = Self::default();
        for letter in name.chars() {
            let small = letter.to_lowercase().next().unwrap_or(letter);
            let marked = MARKED.iter().find_map(|(plain, marked)| {
                let at = marked.chars().position(|marked| marked == small)?;
                Some((*plain, at + 1))
            });
            let mut itself = [0; 4];
            let (plain, mark) = marked.unwrap_or((small.encode_utf8(&mut itself), 0));
            for plain in plain.chars() {
                word.letters.push(place(plain));
                word.marks.push(mark);
                word.capitals.push(small != letter);
            }
        }
        word
    }
}

fn place(letter: char) -> (u8, u32) {
    match SIGNS.find(letter) {
        Some(at) => (0, u32::try_from(at).unwrap_or(u32::MAX)),
        None if letter.is_alphanumeric() => (2, u32::from(letter)),
        None => (1, u32::from(letter)),
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
