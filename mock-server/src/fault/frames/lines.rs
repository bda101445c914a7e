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
            passing.bytes = Some(Bytes::from(fixtures::sse::encode(&format!("{event:#}"))));
        }
        RewriteWord::BadJson => {
            let Some(event) = passing.event() else { return };
            let text = event.to_string();
            let half = text.char_indices().map(|(at, _)| at).nth(text.chars().count() / 2).unwrap_or(0);
            passing.bytes = Some(Bytes::from(fixtures::sse::encode(&text[..half])));
        }
        // Behind the first quotation mark, so that it stands in a text.
        RewriteWord::BadUtf8 => write(passing, |bytes| {
            let at = bytes.iter().position(|byte| *byte == b'"').map_or(0, |at| at + 1);
            [&bytes[..at], b"\xff", &bytes[at..]].concat()
        }),
    }
}

fn write(passing: &mut Passing<'_>, change: impl FnOnce(&[u8]) -> Vec<u8>) {
    passing.bytes = passing.bytes.take().map(|bytes| Bytes::from(change(&bytes)));
}
