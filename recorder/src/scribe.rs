//! Writes a recording while it is made, so that a killed recorder has not worked for nothing.
//!
//! A thread of its own takes the lines from the tape: the wire never waits for the disk. It holds lines back while a
//! frame is not whole or a text comes in deltas, because a secret may be split there, and lets them go when nothing
//! is open: redacted, and scanned as they will stand in the file. A line in which something is found all the same is
//! left out, and a note says so. What is written is `NAME.jsonl.partial`; the name itself is given by
//! [`keep`](crate::keep::keep), which redacts and scans the whole once more.

use crate::background;
use crate::events::{kind, property};
use fixtures::FileError;
use fixtures::recording::{Header, Line, Note, PipeName, Recording, Writer};
use fixtures::redact::{Redactor, Secrets};
use fixtures::sse::Parser;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Takes lines for a scribe; what it is given before the scribe begins is not lost.
#[derive(Debug, Clone)]
pub struct Dictation(Sender<Option<Arc<Line>>>);

/// What is waiting to be written.
#[derive(Debug)]
pub struct Dictated(Receiver<Option<Arc<Line>>>);

/// Both ends.
#[must_use]
pub fn dictation() -> (Dictation, Dictated) {
    let (sender, receiver) = channel();
    (Dictation(sender), Dictated(receiver))
}

impl Dictation {
    /// Never waits. After the scribe has ended nobody hears.
    pub fn hear(&self, line: &Arc<Line>) {
        self.0.send(Some(Arc::clone(line))).ok();
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
        let mut page = Page::begin(path, header, secrets)?;
        let partial = page.writer.partial().to_owned();
        let thread = background::spawn("scribe", move || page.take_down(&dictated.0))
            .map_err(|error| FileError::io(&partial, "start the thread that writes it", &error))?;
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

/// The thread's part.
struct Page {
    writer: Writer,
    header: Header,
    redactor: Redactor,
    secrets: Secrets,
    held: Vec<Line>,
    open: Open,
}

impl Page {
    fn begin(path: &Path, header: &Header, secrets: Secrets) -> Result<Self, FileError> {
        let mut redactor = Redactor::new(&secrets);
        let mut empty = Recording { header: header.clone(), lines: Vec::new(), torn: false };
        redactor.recording(&mut empty);
        let header = empty.header;
        let writer = Writer::create(path, &header)?;
        Ok(Self { writer, header, redactor, secrets, held: Vec::new(), open: Open::default() })
    }

    fn take_down(&mut self, dictated: &Receiver<Option<Arc<Line>>>) -> Result<(), FileError> {
        while let Ok(Some(line)) = dictated.recv() {
            self.take(Arc::unwrap_or_clone(line))?;
        }
        self.let_go()
    }

    fn take(&mut self, line: Line) -> Result<(), FileError> {
        self.open.see(&line);
        self.held.push(line);
        if self.open.is_any() { Ok(()) } else { self.let_go() }
    }

    fn let_go(&mut self) -> Result<(), FileError> {
        let lines = std::mem::take(&mut self.held);
        let Some(at_us) = lines.first().map(Line::at_us) else { return Ok(()) };
        let mut held = Recording { header: self.header.clone(), lines, torn: false };
        self.redactor.recording(&mut held);
        if self.found_in(&held.lines).is_some() {
            for line in &mut held.lines {
                if let Some(detector) = self.found_in(std::slice::from_ref(line)) {
                    *line = left_out(line.at_us(), detector);
                }
            }
            // Split over lines, a secret is in none of them.
            if let Some(detector) = self.found_in(&held.lines) {
                held.lines = vec![left_out(at_us, detector)];
            }
        }
        held.lines.iter().try_for_each(|line| self.writer.push(line))
    }

    /// The detector that finds a secret in these lines as they would stand in the file.
    fn found_in(&self, lines: &[Line]) -> Option<&'static str> {
        // A line that can't be rendered can't be written either, and the writer says so.
        let rendered: Vec<String> =
            lines.iter().filter_map(|line| serde_json::to_string(line).ok()).collect();
        self.secrets.scan(&rendered.join("\n")).first().map(|finding| finding.detector)
    }
}

fn left_out(at_us: u64, detector: &str) -> Line {
    Line::Note(Note { at_us, text: format!("left out while recording: {detector}") })
}

/// What has begun and is not whole yet.
#[derive(Debug, Default)]
struct Open {
    streams: BTreeMap<u64, Parser>,
    /// Exchange, session and part.
    parts: BTreeSet<(u64, String, String)>,
    /// The beginnings of lines of pipes.
    pipes: BTreeMap<PipeName, Vec<u8>>,
    /// Sessions whose agent's text comes in chunks.
    texts: BTreeSet<String>,
}

impl Open {
    fn is_any(&self) -> bool {
        !self.parts.is_empty()
            || !self.texts.is_empty()
            || self.pipes.values().any(|rest| !rest.is_empty())
            || self.streams.values().any(Parser::is_mid_frame)
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
            Line::Pipe(pipe) => self.pipe(pipe.of, pipe.bytes()),
            Line::PipeEnd(end) => drop(self.pipes.remove(&end.of)),
            Line::Exit(_) => *self = Self::default(),
            _ => {}
        }
    }

    fn pipe(&mut self, of: PipeName, bytes: Vec<u8>) {
        let rest = self.pipes.entry(of).or_default();
        rest.extend(bytes);
        let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = rest.drain(..whole).collect();
        if of != PipeName::Stdout {
            return;
        }
        for line in lines.split(|byte| *byte == b'\n') {
            let Ok(message) = serde_json::from_slice::<Value>(line) else { continue };
            let update = message.pointer("/params/update/sessionUpdate").and_then(Value::as_str);
            let session = message.pointer("/params/sessionId").and_then(Value::as_str);
            match (session, update) {
                (Some(session), Some(kind)) if kind.ends_with("_chunk") => {
                    self.texts.insert(session.to_owned());
                }
                (Some(session), _) => drop(self.texts.remove(session)),
                // An answer names no session.
                (None, _) => self.texts.clear(),
            }
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
