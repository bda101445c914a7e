//! What is looked for: the words of a query, and where a text has them. Letters of all alphabets are compared in their compatible
//! form and in lower case.

use icu_normalizer::ComposingNormalizerBorrowed;

/// The words of a query.
#[derive(Debug)]
pub(super) struct Query {
    /// All of them, one space between.
    pub(super) phrase: String,
    /// Each of them once.
    pub(super) terms: Vec<String>,
}

/// Some terms of a query, a bit for each.
pub(super) type Mask = u32;

pub(super) const NO_QUERY: &str = "The 'query' parameter is required when mode is 'search'";
/// So long a query may be, and of so many terms.
const LETTERS_MAX: usize = 256;
const TERMS_MAX: usize = 12;
/// So much of a text is shown, and so much of that before what was found.
const SHOWN: usize = 360;
const SHOWN_BEFORE: usize = 120;

impl Query {
    pub(super) fn new(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if text.is_empty() {
            return Err(NO_QUERY);
        }
        if text.encode_utf16().count() > LETTERS_MAX {
            return Err("Search queries cannot exceed 256 characters");
        }
        let folded = folded(text);
        let mut terms: Vec<String> = Vec::new();
        for term in folded.split_whitespace() {
            if !terms.iter().any(|known| known == term) {
                terms.push(term.to_owned());
            }
        }
        if terms.len() > TERMS_MAX {
            return Err("Search queries cannot exceed 12 terms");
        }
        Ok(Self { phrase: folded.split_whitespace().collect::<Vec<_>>().join(" "), terms })
    }

    pub(super) fn all(&self) -> Mask {
        (1 << self.terms.len()) - 1
    }

    /// The terms for which something holds.
    fn mask(&self, holds: impl Fn(usize, &str) -> bool) -> Mask {
        let at = |at: usize| if holds(at, &self.terms[at]) { 1 << at } else { 0 };
        (0..self.terms.len()).map(at).sum()
    }

    /// The terms that a folded text has.
    pub(super) fn found_in(&self, text: &str) -> Mask {
        self.mask(|_, term| text.contains(term))
    }

    /// Those of them that stand in it as words.
    pub(super) fn words_in(&self, text: &str, found: Mask) -> Mask {
        self.mask(|at, term| found & 1 << at != 0 && word_at(text, term).is_some())
    }

    /// The other terms that are, but for a slip of the pen, words of it.
    pub(super) fn nearly_in(&self, text: &str, found: Mask) -> Mask {
        let is_between = |letter: char| !is_of_word(letter);
        let words: Vec<Vec<char>> = text
            .split(is_between)
            .filter(|word| !word.is_empty())
            .map(|word| word.chars().collect())
            .collect();
        self.mask(|at, term| {
            let slips = match term.encode_utf16().count() {
                8.. => 2,
                5.. => 1,
                _ => return false,
            };
            let term: Vec<char> = term.chars().collect();
            found & 1 << at == 0 && words.iter().any(|word| slips_between(word, &term, slips))
        })
    }

    /// The text around what is found first in it.
    pub(super) fn shown(&self, text: &str) -> String {
        let at = self.first_in(&text.to_lowercase()).filter(|at| text.get(..*at).is_some_and(str::is_ascii));
        let units: Vec<u16> = text.encode_utf16().collect();
        let at = at.unwrap_or_else(|| self.place_of_first(text));
        let start = at.saturating_sub(SHOWN_BEFORE);
        let end = (start + SHOWN).min(units.len());
        let middle = String::from_utf16_lossy(units.get(start..end).unwrap_or_default());
        let before = if start > 0 { "..." } else { "" };
        let after = if start + SHOWN < units.len() { "..." } else { "" };
        format!("{before}{}{after}", middle.trim())
    }

    /// Where a text has it: the phrase, else its first word, else what is in it.
    fn first_in(&self, text: &str) -> Option<usize> {
        let phrase = text.find(&self.phrase);
        if phrase.is_some() && self.terms.len() > 1 {
            return phrase;
        }
        let word = self.terms.iter().filter_map(|term| word_at(text, term)).min();
        word.or(phrase).or_else(|| self.terms.iter().filter_map(|term| text.find(term.as_str())).min())
    }

    /// The place, in units of two bytes, of a text whose letters are not those of its folded form.
    fn place_of_first(&self, text: &str) -> usize {
        let whole = folded(text);
        let at = self.first_in(&whole).unwrap_or_default();
        let (mut passed, mut place) = (0, 0);
        for letter in text.chars() {
            passed += folded(letter.encode_utf8(&mut [0; 4])).len();
            if passed > at {
                return place;
            }
            place += letter.len_utf16();
        }
        0
    }
}

/// A text in its compatible form and in lower case.
pub(super) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    ComposingNormalizerBorrowed::new_nfkc().normalize(text).to_lowercase()
}

/// Where a term stands as a word.
fn word_at(text: &str, term: &str) -> Option<usize> {
    text.match_indices(term).map(|(at, _)| at).find(|&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + term.len()..].chars().next();
        !before.is_some_and(is_of_word) && !after.is_some_and(is_of_word)
    })
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Are two words but for so many slips the same? A slip is a letter too many, too few or another one, or two that changed places.
fn slips_between(word: &[char], term: &[char], most: usize) -> bool {
    if word.len().abs_diff(term.len()) > most {
        return false;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut line: Vec<usize> = (0..=term.len()).collect();
    for (row, letter) in word.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, wanted) in term.iter().enumerate() {
            let other = line[column] + usize::from(letter != wanted);
            let mut least = other.min(line[column + 1] + 1).min(next[column] + 1);
            let have_swapped =
                row > 0 && column > 0 && *letter == term[column - 1] && word[row - 1] == *wanted;
            if have_swapped {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut line, next);
    }
    line[term.len()] <= most
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_can_be_shown_for_any_query(text in ".{0,60}", words in ".{1,12}") {
            if let Ok(query) = Query::new(&words) {
                let shown = query.shown(&text);
                prop_assert!(shown.encode_utf16().count() <= SHOWN + 6);
                prop_assert!(query.found_in(&folded(&text)) <= query.all());
            }
        }

        #[test]
        fn a_word_is_itself_but_for_no_slip(word in "[a-zäß]{1,12}") {
            let letters: Vec<char> = word.chars().collect();
            prop_assert!(slips_between(&letters, &letters, 0));
        }
    }

    fn query(text: &str) -> Query {
        Query::new(text).unwrap()
    }

    #[test]
    fn a_term_is_found_as_part_of_a_word_and_as_a_word() {
        let query = query("pars re");
        let text = folded("Parser, re-parse");
        assert_eq!(query.found_in(&text), 0b11);
        assert_eq!(query.words_in(&text, 0b11), 0b10, "only 're' stands alone");
    }

    #[test]
    fn a_slip_of_the_pen_is_forgiven_in_long_words_only() {
        let nearly = |term: &str, text: &str| query(term).nearly_in(&folded(text), 0) != 0;
        assert!(nearly("fixnig", "Fixing it"), "two letters changed places");
        assert!(nearly("tokeniser", "the tokenizers"), "eight letters and more may have two slips");
        assert!(!nearly("fixes", "fixing"));
        assert!(!nearly("abcd", "abce"), "four letters may have none");
    }

    #[test]
    fn letters_of_other_alphabets_are_compared_in_their_compatible_form() {
        assert_eq!(query("ＦＵＬＬ").found_in(&folded("full")), 1);
        assert_eq!(query("straße").shown("Die Straße ist lang"), "Die Straße ist lang");
    }

    #[test]
    fn what_is_far_inside_is_shown_with_what_stands_around_it() {
        let text = format!("{}needle{}", "a ".repeat(200), " b".repeat(300));
        let shown = query("needle").shown(&text);
        assert!(shown.starts_with("...a a") && shown.ends_with("b..."), "{shown}");
        assert!(shown.contains("needle"));
        let text = format!("{}nädel{}", "ä ".repeat(200), " b".repeat(300));
        assert!(query("nädel").shown(&text).contains("nädel"));
    }

    #[test]
    fn a_query_has_its_bounds() {
        assert!(Query::new("   ").is_err());
        assert!(Query::new(&"x".repeat(257)).is_err());
        let terms = |count: usize| (0..count).map(|at| format!("t{at} ")).collect::<String>();
        assert!(Query::new(&terms(13)).is_err());
        assert_eq!(query(&format!("{}t0 t1", terms(12))).terms.len(), 12, "each counts once");
    }
}
