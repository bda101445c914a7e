//! Files that are more than their text: images, PDFs, notebooks.

use crate::world::Found;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use serde_json::Value;
use std::io::Read as _;

/// An image of more dots than these is not unpacked to its end.
const DOTS_MAX: u64 = 256 * 1024 * 1024;

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
        "image/png" => is_whole_png(content).is_some(),
        "image/jpeg" => has(b"\xff\xda") && has(b"\xff\xd9"),
        "image/gif" => has(b"\x2c") && content.ends_with(b"\x3b"),
        _ => has(b"VP8"),
    };
    by_bytes(content) == Some(kind) && is_whole
}

/// Reads a PNG from piece to piece. The sums of its head and of its dots have to be right, and there have to be as many
/// dots as the head says.
fn is_whole_png(content: &[u8]) -> Option<()> {
    let (mut rest, mut packed, mut wanted) = (content.get(8..)?, Vec::new(), None);
    loop {
        let (length, behind) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (piece, behind) = behind.split_at_checked(length.checked_add(4)?)?;
        let (sum, behind) = behind.split_first_chunk::<4>()?;
        let (name, data) = piece.split_at(4);
        let mut right = Crc::new();
        right.update(piece);
        let is_right = right.sum() == u32::from_be_bytes(*sum);
        match name {
            b"IHDR" if is_right => wanted = bytes_of_dots(data),
            b"IDAT" if is_right && wanted.is_some() => packed.extend_from_slice(data),
            b"IHDR" | b"IDAT" => return None,
            b"IEND" => break,
            _ => {}
        }
        rest = behind;
    }
    // Behind the two bytes of its head; the sum at its end nobody looks at.
    let mut dots = DeflateDecoder::new(packed.get(2..)?);
    let count = std::io::copy(&mut dots.by_ref().take(DOTS_MAX), &mut std::io::sink()).ok()?;
    (count >= wanted?.min(DOTS_MAX)).then_some(())
}

/// How many bytes the dots of a PNG with this head have.
fn bytes_of_dots(head: &[u8]) -> Option<u64> {
    let (width, behind) = head.split_first_chunk::<4>()?;
    let (height, behind) = behind.split_first_chunk::<4>()?;
    let (width, height) = (u64::from(u32::from_be_bytes(*width)), u64::from(u32::from_be_bytes(*height)));
    let &[depth, color, .., is_woven] = behind else { return None };
    let channels = match color {
        0 | 3 => 1,
        4 => 2,
        2 => 3,
        6 => 4,
        _ => return None,
    };
    // Woven ones have more beginnings of lines.
    let line = (width * u64::from(depth) * channels).div_ceil(8) + u64::from(is_woven == 0);
    (width > 0).then_some(line.saturating_mul(height).max(1))
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
    }

    /// A piece of a PNG; a wrong one has a sum that is not its own.
    fn piece(name: &[u8], data: &[u8], is_wrong: bool) -> Vec<u8> {
        let mut sum = Crc::new();
        sum.update(&[name, data].concat());
        let sum = sum.sum() ^ u32::from(is_wrong);
        let length = u32::try_from(data.len()).unwrap();
        [&length.to_be_bytes()[..], name, data, &sum.to_be_bytes()].concat()
    }

    #[test]
    fn a_png_is_read_to_its_end_as_the_servers_read_it() {
        let red = [0, 255, 0, 0].repeat(2);
        let packed = |bytes: &[u8]| {
            let mut packed = flate2::read::ZlibEncoder::new(bytes, flate2::Compression::fast());
            let mut all = Vec::new();
            packed.read_to_end(&mut all).unwrap();
            all
        };
        let head = [0, 0, 0, 1, 0, 0, 0, 2, 8, 2, 0, 0, 0];
        let png = |wrong: &str, dots: &[u8]| {
            let named = |name: &str, data: &[u8]| piece(name.as_bytes(), data, wrong == name);
            let begin = b"\x89PNG\r\n\x1a\n".to_vec();
            let pieces =
                [named("IHDR", &head), named("tEXt", b"a\0b"), named("IDAT", dots), named("IEND", b"")];
            [begin, pieces.concat()].concat()
        };
        let sound = packed(&red);
        for wrong in ["", "tEXt", "IEND"] {
            assert!(is_sound("image/png", &png(wrong, &sound)), "{wrong}");
        }
        for wrong in ["IHDR", "IDAT"] {
            assert!(!is_sound("image/png", &png(wrong, &sound)), "{wrong}");
        }
        assert!(!is_sound("image/png", &png("", &sound[..sound.len() / 2])), "it is cut off");
        assert!(!is_sound("image/png", &png("", &packed(&red[..5]))), "there are too few dots");
        let whole = png("", &sound);
        assert!(!is_sound("image/png", &whole[..whole.len() - 12]), "it has no end");
        assert!(is_sound("image/png", &[&whole[..], b"xx"].concat()));
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
