//! Lines end where the language's own splitting of lines ends them, and JSON leaves such letters as they are.

use super::{Mutant, hears_only};

pub(super) const MUTANT: Mutant = Mutant {
    name: "ends_a_line_at_a_separator",
    about: "Ends a line of the stream at U+2028, U+2029 and U+0085, too, which are letters of a text there.",
    strategies: || hears_only::strategies(bytes),
};

/// The letters that are no end of a line, as UTF-8 has them.
const SEPARATORS: [&str; 3] = ["\u{2028}", "\u{2029}", "\u{85}"];

fn bytes(chunk: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(chunk);
    SEPARATORS.iter().fold(text.into_owned(), |text, separator| text.replace(separator, "\n")).into_bytes()
}
