//! Writes a frame's lines otherwise: other ends, one more, several for one event, or bytes that nobody can read.

use super::passing::Passing;
use bytes::Bytes;
use fixtures::fault_plan::action::{LineEnd, RewriteWord};

pub(super) fn end_with(end: LineEnd, passing: &mut Passing<'_>) {
    let end: &[u8] = match end {
        LineEnd::Cr => b"\r",
        LineEnd::Crlf => b"\r\n",
    };
    write(passing, |bytes| bytes.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(end));
}

pub(super) fn add(line: &str, passing: &mut Passing<'_>) {
    write(passing, |bytes| [line.as_bytes(), b"\n", bytes].concat());
}

pub(super) fn rewrite(how: RewriteWord, passing: &mut Passing<'_>) {
    match how {
        RewriteWord::Bom => write(passing, |bytes| ["\u{feff}".as_bytes(), bytes].concat()),
        RewriteWord::MultiLine => {
            let Some(event) = passing.event() else { return };
            passing.write(&format!("{event:#}"));
        }
        RewriteWord::BadJson => {
            let Some(event) = passing.event() else { return };
            let text = event.to_string();
            let half = text.char_indices().map(|(at, _)| at).nth(text.chars().count() / 2).unwrap_or(0);
            passing.write(&text[..half]);
        }
        // Behind the first quotation mark, so that it stands in a text.
        RewriteWord::BadUtf8 => write(passing, |bytes| {
            let at = bytes.iter().position(|byte| *byte == b'"').map_or(0, |at| at + 1);
            [&bytes[..at], b"\xff", &bytes[at..]].concat()
        }),
    }
}

/// Where each line of a frame lies that has data, its end included.
pub(super) fn of_data(frame: &[u8]) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut from = 0;
    let lines = std::iter::from_fn(move || {
        let rest = frame.get(from..).filter(|rest| !rest.is_empty())?;
        let text = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(rest.len());
        let end = text + end_at(&rest[text..]).len();
        let line = from..from + end;
        from += end;
        Some(line)
    });
    lines.filter(|line| {
        let text = &frame[line.clone()];
        text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text).starts_with(b"data:")
    })
}

/// The end of a line that stands here.
fn end_at(rest: &[u8]) -> &[u8] {
    let ends = [&b"\r\n"[..], b"\r", b"\n"];
    ends.into_iter().find(|end| rest.starts_with(end)).unwrap_or_default()
}

/// The frame with these data in the place of its own, under the same line ends.
pub(super) fn with_data(frame: &[u8], data: &str) -> Vec<u8> {
    let places: Vec<_> = of_data(frame).collect();
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return frame.to_vec() };
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let end = frame[last.clone()]
        .iter()
        .position(is_end)
        .map_or(&b"\n"[..], |at| end_at(&frame[last.start + at..last.end]));
    let mark = "\u{feff}".as_bytes();
    let mut bytes = frame[..first.start].to_vec();
    if frame[first.clone()].starts_with(mark) {
        bytes.extend(mark);
    }
    for line in data.split('\n') {
        bytes.extend(b"data: ");
        bytes.extend(line.as_bytes());
        bytes.extend(end);
    }
    bytes.extend(&frame[last.end..]);
    bytes
}

fn write(passing: &mut Passing<'_>, change: impl FnOnce(&[u8]) -> Vec<u8>) {
    passing.bytes = passing.bytes.take().map(|bytes| Bytes::from(change(&bytes)));
}
