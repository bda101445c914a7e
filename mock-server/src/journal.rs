//! What the stand-in saw and did, on one time line, in the common file format.

use crate::clock::Clock;
use bytes::Bytes;
use fixtures::recording::{Body, Chunk, Line};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// A growing list of lines; clones share it.
#[derive(Debug, Clone)]
pub struct Journal {
    clock: Arc<Clock>,
    memory: Memory,
    kept: Arc<Mutex<Kept>>,
    length: watch::Sender<u64>,
}

/// How much a journal remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Memory {
    /// All: what happens is judged afterwards.
    #[default]
    Whole,
    /// The latest lines, of so many bytes: a stand-in that serves for days does not grow.
    Latest {
        /// About how many bytes.
        bytes: usize,
    },
}

#[derive(Debug, Default)]
struct Kept {
    lines: Vec<Line>,
    /// Where the lines begin that are remembered; those before are given back now and then.
    start: usize,
    /// What was written behind the lines since somebody last looked at them.
    fresh: VecDeque<Entry>,
    bytes: usize,
    written: u64,
    /// Exchanges with a lower number are over, and nothing is told of them any more.
    first_exchange: u64,
    /// There were more lines since it was empty than it remembers.
    has_forgotten: bool,
}

/// Something that is written. A frame goes to many, who share its bytes: a line is made of them when somebody looks.
#[derive(Debug)]
enum Entry {
    Line(Box<Line>),
    /// Frames that were written at once. There are many: they are kept as they come.
    Chunks {
        at_us: u64,
        exchange: u64,
        frames: VecDeque<Bytes>,
    },
}

impl Journal {
    /// An empty journal that remembers all.
    #[must_use]
    pub fn new(clock: Arc<Clock>) -> Self {
        Self::with_memory(clock, Memory::Whole)
    }

    /// An empty journal.
    #[must_use]
    pub fn with_memory(clock: Arc<Clock>, memory: Memory) -> Self {
        Self { clock, memory, kept: Arc::default(), length: watch::Sender::new(0) }
    }

    /// Appends the line that is made of the time. The time is taken under the lock: lines and times have one order.
    pub fn push(&self, line: impl FnOnce(u64) -> Line) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let line = Box::new(line(self.clock.elapsed_us()));
        if line.exchange().is_some_and(|exchange| exchange < kept.first_exchange) {
            return;
        }
        let bytes = weight(&line);
        kept.write(Entry::Line(line), 1, bytes, self.memory);
        self.length.send_replace(kept.written);
    }

    /// Appends a chunk for each of these frames of an exchange, which are written at once.
    pub(crate) fn push_chunks(&self, exchange: u64, frames: Vec<Bytes>) {
        let (count, bytes) = (frames.len(), frames.iter().map(|bytes| LINE + bytes.len()).sum());
        let frames = VecDeque::from(frames);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if exchange < kept.first_exchange {
            return;
        }
        let at_us = self.clock.elapsed_us();
        kept.write(Entry::Chunks { at_us, exchange, frames }, count, bytes, self.memory);
        self.length.send_replace(kept.written);
    }

    /// Changes whenever something has happened.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.length.subscribe()
    }

    /// Something has happened that is no line: who waits looks again.
    pub(crate) fn touch(&self) {
        self.length.send_modify(|_| {});
    }

    /// Forgets all lines.
    pub(crate) fn clear(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { written, first_exchange, .. } = *kept;
        *kept = Kept { written, first_exchange, ..Kept::default() };
    }

    /// Forgets all lines, and how exchanges with a lower number than this one end.
    pub(crate) fn begin_anew(&self, first_exchange: u64) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let written = kept.written;
        *kept = Kept { written, first_exchange, ..Kept::default() };
    }

    /// Were there more lines since it was empty than it remembers?
    pub(crate) fn has_forgotten(&self) -> bool {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).has_forgotten
    }

    /// A body as this journal keeps it: one that is longer than all it remembers is told by its length.
    #[must_use]
    pub fn body(&self, bytes: &[u8]) -> Body {
        match self.memory {
            Memory::Latest { bytes: most } if bytes.len() > most / 4 => {
                Body::Text(format!("{} bytes, too many for this journal", bytes.len()))
            }
            _ => Body::from_bytes(bytes),
        }
    }

    /// How many lines were written, those that are forgotten among them.
    #[must_use]
    pub fn written(&self) -> u64 {
        *self.length.borrow()
    }

    /// All lines so far that it remembers.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.looked_at().to_vec()
    }

    /// Waits until the lines so far satisfy `holds`. Has no limit of its own: the caller's wait has one.
    pub async fn wait_until(&self, mut holds: impl FnMut(&[Line]) -> bool) {
        let mut length = self.length.subscribe();
        loop {
            length.borrow_and_update();
            let met = {
                let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
                holds(kept.looked_at())
            };
            if met || length.changed().await.is_err() {
                return;
            }
        }
    }
}

impl Journal {
    /// Waits for the line that is meant. Each is shown once, those that are there already first; what is forgotten before it
    /// was shown is not. Like [`Journal::wait_until`], it holds the journal while it shows lines.
    pub(crate) async fn wait_for_line(&self, mut is_meant: impl FnMut(&Line) -> bool) {
        let mut length = self.length.subscribe();
        let mut shown = 0;
        loop {
            length.borrow_and_update();
            let met = {
                let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
                let written = kept.written;
                let lines = kept.looked_at();
                let new = usize::try_from(written - shown).unwrap_or(usize::MAX).min(lines.len());
                shown = written;
                lines[lines.len() - new..].iter().any(&mut is_meant)
            };
            if met || length.changed().await.is_err() {
                return;
            }
        }
    }
}

impl Kept {
    /// Appends what makes so many lines of so many bytes.
    fn write(&mut self, entry: Entry, lines: usize, bytes: usize, memory: Memory) {
        self.fresh.push_back(entry);
        self.written += lines as u64;
        if let Memory::Latest { bytes: most } = memory {
            self.bytes += bytes;
            self.forget_beyond(most);
        }
    }

    /// All lines that are remembered.
    fn looked_at(&mut self) -> &[Line] {
        for entry in self.fresh.drain(..) {
            match entry {
                Entry::Line(line) => self.lines.push(*line),
                Entry::Chunks { at_us, exchange, frames } => {
                    let line = |bytes: Bytes| Line::Chunk(Chunk::new(at_us, exchange, &bytes));
                    self.lines.extend(frames.into_iter().map(line));
                }
            }
        }
        &self.lines[self.start..]
    }

    /// Forgets from the front until what is left is not too much; the latest line stays, however long it is.
    fn forget_beyond(&mut self, most: usize) {
        while self.bytes > most && self.start < self.lines.len() {
            self.forgot(weight(&self.lines[self.start]));
            self.start += 1;
        }
        while self.bytes > most
            && let Some(bytes) = self.forget_fresh()
        {
            self.forgot(bytes);
        }
        // Now and then, so that each line is moved once.
        if self.start > self.lines.len() / 2 {
            self.lines.drain(..self.start);
            self.start = 0;
        }
    }

    /// Forgets the first of what nobody has looked at, if it is not the last that there is; how many bytes it was.
    fn forget_fresh(&mut self) -> Option<usize> {
        let is_alone = self.fresh.len() == 1;
        let bytes = match self.fresh.front_mut()? {
            Entry::Line(line) if !is_alone => weight(line),
            Entry::Chunks { frames, .. } if frames.len() > 1 => {
                return frames.pop_front().map(|bytes| LINE + bytes.len());
            }
            Entry::Chunks { frames, .. } if !is_alone => frames.front().map_or(0, |bytes| LINE + bytes.len()),
            _ => return None,
        };
        self.fresh.pop_front();
        Some(bytes)
    }

    fn forgot(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.has_forgotten = true;
    }
}

/// What a line costs beside its text.
const LINE: usize = 256;

/// About how many bytes a line costs.
fn weight(line: &Line) -> usize {
    LINE + match line {
        Line::Request(request) => body_weight(&request.body) + request.path.len() + request.query.len(),
        Line::Response(response) => body_weight(&response.body),
        Line::Chunk(chunk) => chunk.text.as_ref().or(chunk.base64.as_ref()).map_or(0, String::len),
        Line::Model(call) => call.messages.iter().map(json_weight).sum(),
        _ => LINE,
    }
}

fn body_weight(body: &Body) -> usize {
    match body {
        Body::Empty => 0,
        Body::Json(value) => json_weight(value),
        Body::Text(text) | Body::Base64(text) => text.len(),
    }
}

/// Values are larger in memory than on the wire.
fn json_weight(value: &serde_json::Value) -> usize {
    const VALUE: usize = 64;
    VALUE
        + match value {
            serde_json::Value::String(text) => text.len(),
            serde_json::Value::Array(items) => items.iter().map(json_weight).sum(),
            serde_json::Value::Object(map) => {
                map.iter().map(|(key, value)| key.len() + json_weight(value)).sum()
            }
            _ => 0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ClockKind;

    fn write(journal: &Journal, number: u64) {
        journal.push_chunks(number, vec![Bytes::from_static(&[b'x'; 1000])]);
    }

    fn numbers(journal: &Journal) -> Vec<u64> {
        let lines = journal.lines();
        lines
            .iter()
            .filter_map(|line| if let Line::Chunk(chunk) = line { Some(chunk.exchange) } else { None })
            .collect()
    }

    #[test]
    fn a_journal_of_the_latest_lines_does_not_grow() {
        let clock = Arc::new(Clock::new(ClockKind::Logical));
        let journal = Journal::with_memory(clock.clone(), Memory::Latest { bytes: 10_000 });
        let whole = Journal::new(clock);
        for number in 0..1000 {
            write(&journal, number);
            write(&whole, number);
            let kept = journal.kept.lock().unwrap();
            assert!(kept.lines.len() + kept.fresh.len() <= 20, "what is forgotten is given back");
        }
        assert_eq!(numbers(&journal), (993..1000).collect::<Vec<_>>());
        assert_eq!((journal.written(), whole.lines().len()), (1000, 1000));
        assert_eq!((journal.has_forgotten(), whole.has_forgotten()), (true, false));
        journal.clear();
        assert!(!journal.has_forgotten());
    }

    #[test]
    fn of_frames_that_were_written_at_once_the_latest_stay_and_one_always() {
        let clock = Arc::new(Clock::new(ClockKind::Logical));
        let journal = Journal::with_memory(clock, Memory::Latest { bytes: 10_000 });
        let frames = |count: usize, bytes: usize| vec![Bytes::from(vec![b'x'; bytes]); count];
        for number in 0..10 {
            journal.push_chunks(number, frames(3, 1000));
        }
        assert_eq!((numbers(&journal), journal.written()), (vec![7, 8, 8, 8, 9, 9, 9], 30));
        journal.push_chunks(10, frames(20, 1000));
        journal.push_chunks(11, frames(2, 50));
        assert_eq!(numbers(&journal), [[10; 7].as_slice(), &[11; 2]].concat());
        for number in 12..15 {
            journal.push_chunks(number, frames(2, 20_000));
            assert_eq!(journal.kept.lock().unwrap().fresh.len(), 1);
        }
        assert_eq!((numbers(&journal), journal.written()), (vec![14], 58));
    }

    #[tokio::test]
    async fn each_line_is_shown_once_to_who_waits_for_one() {
        let clock = Arc::new(Clock::new(ClockKind::Logical));
        let journal = Journal::with_memory(clock, Memory::Latest { bytes: 10_000 });
        write(&journal, 0);
        let mut shown = Vec::new();
        let all = journal.wait_for_line(|line| {
            let Line::Chunk(chunk) = line else { return false };
            shown.push(chunk.exchange);
            chunk.exchange == 9
        });
        let writing = async {
            for number in 1..10 {
                if number == 5 {
                    journal.clear();
                }
                write(&journal, number);
                tokio::task::yield_now().await;
            }
        };
        tokio::join!(all, writing);
        assert_eq!(shown, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn a_body_that_is_too_long_is_told_by_its_length() {
        let clock = Arc::new(Clock::new(ClockKind::Logical));
        let journal = Journal::with_memory(clock.clone(), Memory::Latest { bytes: 400 });
        assert_eq!(journal.body(&[b'x'; 101]), Body::Text("101 bytes, too many for this journal".into()));
        assert_eq!(journal.body(&[b'x'; 100]), Body::from_bytes(&[b'x'; 100]));
        assert_eq!(Journal::new(clock).body(&[b'x'; 101]), Body::from_bytes(&[b'x'; 101]));
    }
}
