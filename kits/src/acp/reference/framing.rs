//! Bytes of an agent → messages. An agent's stdout should hold one message a line and nothing else; what really comes is
//! log lines, titles in front of messages, two messages on a line, lines that are cut anywhere, and lines without an end.

use super::Quirk;
use serde_json::{Deserializer, Value};

/// No message is longer; who goes on for ever is not listened to for ever.
const LONGEST: usize = 20 * 1024 * 1024;
/// As a library has it that nobody has told otherwise.
const SHORT: usize = 64 * 1024;

/// What stands on a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    Message(Value),
    Noise(String),
}

/// A line has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Endless;

/// What has come and is no line yet.
pub(super) struct Lines {
    rest: Vec<u8>,
    quirk: Quirk,
}

impl Lines {
    pub(super) fn new(quirk: Quirk) -> Self {
        Self { rest: Vec::new(), quirk }
    }

    /// Takes bytes as they were read; gives what is whole.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Said>, Endless> {
        if self.quirk.is("reader-by-chunk") {
            return Ok(said(bytes, self.quirk).into_iter().take(1).collect());
        }
        let text;
        let bytes = if self.quirk.is("utf8-by-chunk") {
            text = String::from_utf8_lossy(bytes).into_owned();
            text.as_bytes()
        } else if self.quirk.is("lines-of-a-text") {
            text = String::from_utf8_lossy(bytes).replace(['\u{2028}', '\u{2029}', '\u{85}'], "\n");
            text.as_bytes()
        } else {
            bytes
        };
        let mut all = Vec::new();
        let mut from = self.rest.len();
        self.rest.extend_from_slice(bytes);
        while let Some(at) = self.rest[from..].iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=from + at).collect();
            from = 0;
            if self.quirk.is("short-lines") && line.len() > SHORT {
                return Err(Endless);
            }
            all.extend(said(&line, self.quirk));
        }
        let is_endless = self.rest.len() > LONGEST && !self.quirk.is("endless-lines");
        if is_endless { Err(Endless) } else { Ok(all) }
    }

    /// What comes last needs no end of its line.
    pub(super) fn end(&mut self) -> Vec<Said> {
        let last = std::mem::take(&mut self.rest);
        if self.quirk.is("needs-last-newline") { Vec::new() } else { said(&last, self.quirk) }
    }
}

/// What stands on one line.
fn said(line: &[u8], quirk: Quirk) -> Vec<Said> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Vec::new();
    }
    // Whatever stands before a message (a title for a terminal, a word of a log) is no part of it.
    let start = match quirk.is("line-is-message") {
        true => Some(0),
        false => line.iter().position(|byte| *byte == b'{'),
    };
    let mut all = Vec::new();
    let read = start.map(|start| Deserializer::from_slice(&line[start..]).into_iter::<Value>());
    for message in read.into_iter().flatten() {
        match message {
            Ok(message) if message.is_object() => all.push(Said::Message(message)),
            _ => break,
        }
    }
    if all.is_empty() {
        all.push(Said::Noise(String::from_utf8_lossy(line).into_owned()));
    }
    all
}
