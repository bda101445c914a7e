//! What `read` gives of a folder: the names in it, in the order of a person's dictionary.

use super::Reading;
use super::text::{PREVIEW_LINES, Window};
use crate::javascript::in_dictionary;
use serde_json::json;

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
