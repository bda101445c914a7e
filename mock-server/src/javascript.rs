//! Lengths and numbers as the servers have them: they are JavaScript, which counts UTF-16 units and reads numbers in
//! its own way. Words are sorted as a dictionary has them.

use std::cmp::Ordering;

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

/// A text without the space around it; a byte order mark counts as space.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|letter: char| letter == '\u{feff}' || letter != '\u{85}' && letter.is_whitespace())
}

/// Signs of ASCII in the order of a person's dictionary; digits and letters follow.
const SIGNS: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// First by letters whatever their case, then small letters before capital ones.
pub(crate) fn in_dictionary(a: &str, b: &str) -> Ordering {
    let place = |letter: char| match SIGNS.find(letter) {
        Some(at) => (0, u32::try_from(at).unwrap_or(u32::MAX)),
        None => (1, u32::from(letter.to_ascii_lowercase())),
    };
    let by_letters = a.chars().map(place).cmp(b.chars().map(place));
    // In ASCII capital letters come first; the dictionary has it the other way round.
    by_letters.then_with(|| b.cmp(a))
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
        assert_eq!(names, [".git/", "1", "a/", "b", "B", "b_c", "b-c", "b2", "notes/", "README.md", "é"]);
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
