//! Writes a recording while it is made, so that a killed recorder has not worked for nothing.
//!
//! A thread of its own takes the lines from the tape: the wire never waits for the disk. It holds lines back while a
//! frame is not whole or a text comes in deltas, because a secret may be split there, and lets them go when nothing
//! is open: redacted, and scanned as they will stand in the file. A line in which something is found all the same is
//! left out, and a note says so. What is written is `NAME.jsonl.partial`; the name itself is given by
//! [`keep`](crate::keep::keep), which redacts and scans the whole once more.

use crate::events::{kind, property};
use crate::keep::redact;
use fixtures::FileError;
use fixtures::recording::{Header, Line, Note};
use fixtures::redact::Secrets;
use fixtures::sse::Parser;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Takes lines for a scribe; what it is given before the scribe begins is not lost.
#[derive(Debug, Clone)]
pub struct Dictation(Sender<Option<Line>>);

/// What is waiting to be written.
#[derive(Debug)]
pub struct Dictated(Receiver<Option<Line>>);

/// Both ends.
#[must_use]
pub fn dictation() -> (Dictation, Dictated) {
    let (sender, receiver) = channel();
    (Dictation(sender), Dictated(receiver))
}

impl Dictation {
    /// Never waits. After the scribe has ended nobody hears.
    pub fn hear(&self, line: &Line) {
        self.0.send(Some(line.clone())).ok();
    }
}

/// A file that is being written.
#[derive(Debug)]
pub struct Scribe {
    partial: PathBuf,
    dictation: Dictation,
    thread: JoinHandle<Result<(), FileError>>,
}

impl Scribe {
    /// Begins `path` with `.partial` behind its name, readable by its owner alone. What a killed recorder left there
    /// is replaced; what stands under the name itself stays.
    pub fn begin(
        path: &Path,
        header: &Header,
        secrets: Secrets,
        (dictation, dictated): (Dictation, Dictated),
    ) -> Result<Self, FileError> {
        let partial = partial_of(path);
        let failed = |error| FileError::io(&partial, "write it", &error);
        let mut page = Page::begin(&partial, secrets).map_err(failed)?;
        page.write(&[Line::Header(header.clone())]).map_err(failed)?;
        let file = partial.clone();
        let thread = std::thread::Builder::new()
            .name("scribe".to_owned())
            .spawn(move || {
                page.take_down(&dictated.0).map_err(|error| FileError::io(&file, "write it", &error))
            })
            .map_err(failed)?;
        Ok(Self { partial, dictation, thread })
    }

    /// Where it is.
    #[must_use]
    pub fn partial(&self) -> &Path {
        &self.partial
    }

    /// Writes what is held back, and says whether all could be written.
    pub fn end(self) -> Result<(), FileError> {
        self.dictation.0.send(None).ok();
        let died = || {
            FileError::whole(&self.partial, "the thread that writes it died; this is a mistake in standin")
        };
        self.thread.join().map_err(|_| died())?
    }
}

/// The name of a file that is not finished.
#[must_use]
pub fn partial_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

/// The thread's part.
struct Page {
    file: File,
    secrets: Secrets,
    held: Vec<Line>,
    open: Open,
}

impl Page {
    fn begin(partial: &Path, secrets: Secrets) -> io::Result<Self> {
        if let Some(folder) = partial.parent() {
            fs::create_dir_all(folder)?;
        }
        // Made anew: the old one may be readable by others.
        match fs::remove_file(partial) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = OpenOptions::new().create_new(true).append(true).mode(0o600).open(partial)?;
        Ok(Self { file, secrets, held: Vec::new(), open: Open::default() })
    }

    fn take_down(&mut self, dictated: &Receiver<Option<Line>>) -> io::Result<()> {
        while let Ok(Some(line)) = dictated.recv() {
            self.take(line)?;
        }
        self.let_go()
    }

    fn take(&mut self, line: Line) -> io::Result<()> {
        self.open.see(&line);
        self.held.push(line);
        if self.open.is_any() { Ok(()) } else { self.let_go() }
    }

    fn let_go(&mut self) -> io::Result<()> {
        let mut lines = std::mem::take(&mut self.held);
        lines.iter_mut().for_each(redact);
        for line in &mut lines {
            let found = self.secrets.scan(&rendered(std::slice::from_ref(line))?);
            if let Some(finding) = found.first() {
                *line = left_out(line.at_us(), finding.detector);
            }
        }
        // Split over lines, a secret is in none of them.
        let found = self.secrets.scan(&joined(&lines));
        match (found.first(), lines.first()) {
            (Some(finding), Some(first)) => self.write(&[left_out(first.at_us(), finding.detector)]),
            _ => self.write(&lines),
        }
    }

    /// All in one piece, so a kill tears the last of them at most.
    fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        self.file.write_all(rendered(lines)?.as_bytes())
    }
}

fn left_out(at_us: u64, detector: &str) -> Line {
    Line::Note(Note { at_us, text: format!("left out while recording: {detector}") })
}

fn rendered(lines: &[Line]) -> io::Result<String> {
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(line)?);
        text.push('\n');
    }
    Ok(text)
}

/// What the client of each stream reads: the frames' data, and the deltas of each part in one.
fn joined(lines: &[Line]) -> String {
    let mut streams: BTreeMap<u64, Parser> = BTreeMap::new();
    let (mut text, mut parts) = (String::new(), BTreeMap::<(u64, String), String>::new());
    for line in lines {
        let Line::Chunk(chunk) = line else { continue };
        for frame in streams.entry(chunk.exchange).or_default().feed(&chunk.bytes()) {
            let event: Value = serde_json::from_str(&frame.data).unwrap_or_default();
            if let (Some(part), Some(delta)) = (property(&event, "partID"), property(&event, "delta")) {
                parts.entry((chunk.exchange, part.to_owned())).or_default().push_str(delta);
            }
            text.push_str(&frame.data);
            text.push('\n');
        }
    }
    parts.values().fold(text, |text, part| text + part + "\n")
}

/// What has begun and is not whole yet.
#[derive(Debug, Default)]
struct Open {
    streams: BTreeMap<u64, Parser>,
    /// Exchange, session and part.
    parts: BTreeSet<(u64, String, String)>,
}

impl Open {
    fn is_any(&self) -> bool {
        !self.parts.is_empty() || self.streams.values().any(Parser::is_mid_frame)
    }

    fn see(&mut self, line: &Line) {
        match line {
            Line::Chunk(chunk) => {
                let frames = self.streams.entry(chunk.exchange).or_default().feed(&chunk.bytes());
                for frame in frames {
                    self.event(chunk.exchange, &serde_json::from_str(&frame.data).unwrap_or_default());
                }
            }
            Line::End(end) => {
                self.streams.remove(&end.exchange);
                self.parts.retain(|(exchange, ..)| *exchange != end.exchange);
            }
            _ => {}
        }
    }

    fn event(&mut self, exchange: u64, event: &Value) {
        let session = property(event, "sessionID").unwrap_or_default();
        match kind(event) {
            "message.part.delta" => {
                let part = property(event, "partID").unwrap_or_default();
                self.parts.insert((exchange, session.to_owned(), part.to_owned()));
            }
            // It says the part's text as a whole.
            "message.part.updated" => {
                let properties = event.get("payload").unwrap_or(event).get("properties");
                let part = properties.and_then(|properties| properties.pointer("/part/id"));
                let part = part.and_then(Value::as_str).unwrap_or_default();
                self.parts.retain(|(at, _, open)| *at != exchange || open != part);
            }
            // Whatever was left open stays so.
            "session.idle" | "session.deleted" => {
                self.parts.retain(|(at, of, _)| *at != exchange || of != session);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
