//! Lengths as the servers count them: they are JavaScript, which counts UTF-16 units.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_beyond_the_first_plane_are_two() {
        assert_eq!((units("aé😀"), first_units("aé😀b", 3), first_units("aé😀b", 4)), (4, "aé", "aé😀"));
    }
}
