//! What `read` gives of a folder: the names in it, in the order of a person's dictionary.

use super::Reading;
use super::text::{PREVIEW_LINES, Window};
use serde_json::json;
use std::cmp::Ordering;

/// The part of a folder that a call gets. `entries` end in a slash where they are folders.
pub(super) fn reading(path: &str, mut entries: Vec<String>, window: Window) -> Reading {
    entries.sort_by(|a, b| in_dictionary(a, b));
    let total = entries.len();
    let shown: Vec<String> = entries.into_iter().skip(window.offset - 1).take(window.limit).collect();
    let is_truncated = window.offset - 1 + shown.len() < total;
    let end = if is_truncated {
        format!(
            "(Showing {} of {total} entries. Use 'offset' parameter to read beyond entry {})",
            shown.len(),
            window.offset + shown.len()
        )
    } else {
        format!("({total} entries)")
    };
    let names = shown.join("\n");
    let output =
        format!("<path>{path}</path>\n<type>directory</type>\n<entries>\n{names}\n\n{end}\n</entries>");
    let preview = shown[..shown.len().min(PREVIEW_LINES)].join("\n");
    let display = json!({
        "type": "directory", "path": path, "entries": shown, "offset": window.offset, "totalEntries": total,
        "truncated": is_truncated,
    });
    Reading { output, preview, is_truncated, display }
}

/// Signs of ASCII in the order of the servers' dictionary; digits and letters follow.
const SIGNS: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// First by letters whatever their case, then small letters before capital ones.
fn in_dictionary(a: &str, b: &str) -> Ordering {
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
    fn names_stand_as_in_a_dictionary() {
        let mut names = ["b2", "B", "b-c", "a/", "b_c", ".git/", "é", "b", "README.md", "1", "notes/"];
        names.sort_by(|a, b| in_dictionary(a, b));
        assert_eq!(names, [".git/", "1", "a/", "b", "B", "b_c", "b-c", "b2", "notes/", "README.md", "é"]);
    }
}
