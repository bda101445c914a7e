//! The keys of a case, as they may stand somewhere: letter by letter, or in base64.

use base64::engine::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use fixtures::failures::KEY;

/// What the person gives in its place.
pub(super) const NEXT_KEY: &str = "sk-standin-canary-of-tomorrow-c41d90";
/// All of them.
pub(super) const KEYS: [&str; 2] = [KEY, NEXT_KEY];

/// A key in base64. What stands before it in the same text moves its letters, so there are three forms; letters that
/// depend on what stands around it are in none.
pub(super) fn in_base64(key: &str) -> [String; 3] {
    [0, 1, 2].map(|before: usize| {
        let bytes = [vec![0; before], key.as_bytes().to_vec()].concat();
        let end = bytes.len() * 8 / 6;
        let begin = (before * 8).div_ceil(6);
        STANDARD_NO_PAD.encode(&bytes).chars().take(end).skip(begin).collect()
    })
}

/// Does a key stand in a text, or most of one?
pub(super) fn stands_in(text: &str) -> bool {
    let is_there =
        |key: &str| most_of(key, text) || in_base64(key).iter().any(|form| text.contains(form.as_str()));
    KEYS.into_iter().any(is_there)
}

/// Two thirds of its letters, one behind the other: what is left can be tried. A few at its ends are how people tell
/// their keys apart.
fn most_of(key: &str, text: &str) -> bool {
    let most = key.len() * 2 / 3;
    (0..=key.len() - most).any(|at| key.get(at..at + most).is_some_and(|part| text.contains(part)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    #[test]
    fn a_key_is_found_whatever_stands_around_it() {
        for key in KEYS {
            for before in ["", "u", "u:", "user:", "{\"key\":\""] {
                for after in ["", "@", "\"}", " and more"] {
                    let whole = format!("{before}{key}{after}");
                    assert!(stands_in(&whole), "{whole}");
                    assert!(stands_in(&STANDARD.encode(&whole)), "{whole} in base64");
                    assert!(stands_in(&URL_SAFE_NO_PAD.encode(&whole)), "{whole} in base64 for addresses");
                }
            }
        }
        assert!(stands_in(&KEY[1..]) && stands_in(&KEY[..KEY.len() - 4]), "most of it");
        assert!(!stands_in(&format!("{}...{}", &KEY[..18], &KEY[KEY.len() - 4..])), "its ends");
        assert!(!stands_in(&STANDARD.encode("a text as long as a key that is none of a person")));
    }
}
