//! Files that are more than their text: images, PDFs, notebooks.

use crate::world::Found;
use serde_json::Value;

/// What a file's bytes say it is.
pub(in crate::world) fn by_bytes(content: &[u8]) -> Option<&'static str> {
    let begins: [(&[u8], &str); 5] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"BM", "image/bmp"),
        (b"%PDF-", "application/pdf"),
    ];
    let is_webp = content.starts_with(b"RIFF") && content.get(8..12) == Some(b"WEBP");
    let known = begins.into_iter().find(|(begin, _)| content.starts_with(begin)).map(|(_, kind)| kind);
    known.or(is_webp.then_some("image/webp"))
}

/// Is an image what it says it is, as far as its outline tells?
pub(in crate::world) fn is_sound(kind: &str, content: &[u8]) -> bool {
    let has = |wanted: &[u8]| content.windows(wanted.len()).any(|bytes| bytes == wanted);
    let is_whole = match kind {
        "image/png" => content.get(12..16) == Some(b"IHDR") && has(b"IEND"),
        "image/jpeg" => has(b"\xff\xda") && has(b"\xff\xd9"),
        "image/gif" => has(b"\x2c") && content.ends_with(b"\x3b"),
        _ => has(b"VP8"),
    };
    by_bytes(content) == Some(kind) && is_whole
}

/// The kind of a file that is shown as it is, by its bytes, or else by its name.
pub(super) fn shown(path: &str, found: &Found) -> Option<&'static str> {
    let Found::File(content) = found else { return None };
    let by_name = || match extension(path).as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" | "jpe" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        "pdf" => Some("application/pdf"),
        _ => None,
    };
    by_bytes(content).or_else(by_name).filter(|kind| *kind != "image/bmp")
}

/// What is told in place of such a file's text.
pub(super) fn told(kind: &str) -> &'static str {
    if kind == "application/pdf" { "PDF read successfully" } else { "Image read successfully" }
}

/// The cells of a notebook that are text or code; `None` where a file is no notebook.
pub(super) fn notebook(path: &str, content: &[u8]) -> Option<String> {
    if extension(path) != "ipynb" {
        return None;
    }
    let notebook: Value = serde_json::from_slice(content).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    let told = cells.iter().filter_map(|cell| {
        let kind = cell["cell_type"].as_str().filter(|kind| matches!(*kind, "markdown" | "code"))?;
        let text = match &cell["source"] {
            Value::String(text) => text.clone(),
            Value::Array(lines) => lines.iter().map(Value::as_str).collect::<Option<String>>()?,
            _ => return None,
        };
        let end = if text.ends_with('\n') { "" } else { "\n" };
        Some(format!("<{kind}_cell>\n{text}{end}</{kind}_cell>"))
    });
    let told: Vec<String> = told.collect();
    let nothing = "(Notebook contains no markdown or code cell content.)";
    Some(if told.is_empty() { nothing.to_owned() } else { told.join("\n\n") })
}

fn extension(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_known_by_bytes_before_names() {
        for (path, content, kind) in [
            ("/a.txt", b"GIF89a".as_slice(), Some("image/gif")),
            ("/a.png", b"BM", None),
            ("/a.JPG", b"text", Some("image/jpeg")),
            ("/a.svg", b"<svg/>", None),
            ("/a.webp", b"RIFF1234WEBP", Some("image/webp")),
            ("/a", b"%PDF-1.4", Some("application/pdf")),
        ] {
            assert_eq!(shown(path, &Found::File(content.to_vec())), kind, "{path}");
        }
    }

    #[test]
    fn what_only_begins_as_an_image_is_none() {
        assert!(!is_sound("image/gif", b"GIF89a not really\n") && !is_sound("image/png", b"text"));
        assert!(is_sound("image/gif", b"GIF89a\x01\0\x01\0\0\0\0\x2c\0\0\x3b"));
        assert!(is_sound("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\0IEND"));
    }

    #[test]
    fn a_notebook_is_told_by_its_cells() {
        let book =
            br#"{"cells":[{"cell_type":"markdown","source":["a\n","b"]},{"cell_type":"raw","source":"r"}]}"#;
        assert_eq!(notebook("/a.ipynb", book).unwrap(), "<markdown_cell>\na\nb\n</markdown_cell>");
        assert_eq!(notebook("/a.json", book), None);
        assert!(notebook("/a.ipynb", br#"{"cells":[]}"#).unwrap().starts_with("(Notebook"));
    }
}
