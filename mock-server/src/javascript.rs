//! Lengths and numbers as the servers have them: they are JavaScript, which counts UTF-16 units and reads numbers in
//! its own way.

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

#[cfg(test)]
mod tests {
    use super::*;

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
