//! What is kept of traffic that nobody planned, and how much of it: a client may talk for days, and what is kept waits
//! in memory until it is redacted as a whole. What has no room passes all the same, and the recording says so.

use crate::tape::Tape;
use fixtures::recording::{Chunk, End, HowEnded, Line, Note};
use fixtures::redact::Secrets;
use fixtures::sse::Parser;
use std::collections::HashMap;
use std::time::Instant;

/// How many bytes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Of one body.
    pub body: usize,
    /// Of one stream.
    pub stream: usize,
    /// Of everything.
    pub whole: usize,
}

/// A mebibyte.
pub const MIB: usize = 1024 * 1024;

impl Default for Room {
    fn default() -> Self {
        Self { body: 16 * MIB, stream: 64 * MIB, whole: 256 * MIB }
    }
}

/// A frame is kept whole when it ends so soon behind the end of the room.
const FRAME_SLACK: usize = MIB;
/// What a line takes beside its bytes, about.
const LINE_BYTES: usize = 256;
/// So many cases of what was left out are told; the recording tells all.
const TOLD: usize = 20;

/// What passed.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// Connections of clients.
    pub connections: u64,
    /// Requests that are recorded.
    pub requests: u64,
    /// Those among them whose answer is a stream of events.
    pub streams: u64,
    /// The events of these streams that are recorded.
    pub events: u64,
    /// What passed and is not recorded, in words; the first cases.
    pub left_out: Vec<String>,
    /// How many cases there are.
    pub left_out_count: u64,
    /// Passwords that were seen in requests. They must not stand in any file.
    pub secrets: Secrets,
}

/// Keeps lines while there is room.
#[derive(Debug)]
pub(crate) struct Ledger {
    tape: Tape,
    room: Room,
    used: usize,
    is_full: bool,
    streams: HashMap<u64, Stream>,
    pub(crate) account: Account,
}

#[derive(Debug, Default)]
struct Stream {
    kept: usize,
    parser: Parser,
    is_cut: bool,
}

impl Ledger {
    pub(crate) fn new(tape: Tape, room: Room) -> Self {
        Self { tape, room, used: 0, is_full: false, streams: HashMap::new(), account: Account::default() }
    }

    pub(crate) fn room(&self) -> Room {
        self.room
    }

    /// A number for the next exchange.
    pub(crate) fn exchange(&self) -> u64 {
        self.tape.next_exchange()
    }

    /// Keeps a line of about so many bytes, if there is room.
    pub(crate) fn keep(&mut self, when: Instant, bytes: usize, line: impl FnOnce(u64) -> Line) {
        if self.is_full {
            return;
        }
        self.used += bytes + LINE_BYTES;
        if self.used > self.room.whole {
            self.leave_out(
                when,
                format!(
                    "the recording is full at {}; nothing is recorded from here on",
                    told(self.room.whole)
                ),
            );
            self.is_full = true;
            return;
        }
        self.tape.push_at(when, line);
    }

    /// A remark in the recording.
    pub(crate) fn remark(&mut self, when: Instant, text: String) {
        self.keep(when, text.len(), |at_us| Line::Note(Note { at_us, text }));
    }

    /// Says in the recording and in the account that something is not recorded.
    pub(crate) fn leave_out(&mut self, when: Instant, what: String) {
        if self.is_full {
            return;
        }
        self.used += LINE_BYTES;
        self.account.left_out_count += 1;
        if self.account.left_out.len() < TOLD {
            self.account.left_out.push(what.clone());
        }
        self.tape.push_at(when, |at_us| Line::Note(Note { at_us, text: what }));
    }

    /// From now on the chunks of this exchange are kept.
    pub(crate) fn open_stream(&mut self, exchange: u64) {
        self.account.streams += 1;
        self.streams.insert(exchange, Stream::default());
    }

    /// Bytes of a stream arrived.
    pub(crate) fn chunk(&mut self, when: Instant, exchange: u64, bytes: &[u8]) {
        let Some(stream) = self.streams.get_mut(&exchange) else { return };
        if stream.is_cut || self.is_full || bytes.is_empty() {
            return;
        }
        stream.kept += bytes.len();
        self.account.events += stream.parser.feed(bytes).len() as u64;
        let is_over = stream.kept > self.room.stream;
        // Whoever writes the file holds all lines back while a frame is open.
        stream.is_cut =
            is_over && (!stream.parser.is_mid_frame() || stream.kept > self.room.stream + FRAME_SLACK);
        let is_cut = stream.is_cut;
        self.keep(when, bytes.len(), |at_us| Line::Chunk(Chunk::new(at_us, exchange, bytes)));
        if is_cut {
            let most = told(self.room.stream);
            self.leave_out(
                when,
                format!("exchange {exchange}: the stream is longer than {most}; its rest passes and is not recorded"),
            );
        }
    }

    /// An exchange ended in another way than by its answer, or its stream ended.
    pub(crate) fn end(&mut self, when: Instant, exchange: u64, how: HowEnded) {
        let was_stream = self.streams.remove(&exchange).is_some();
        // How a stream ended is known of each that has begun, be there room or not.
        if was_stream || !self.is_full {
            self.tape.push_at(when, |at_us| Line::End(End { at_us, exchange, how }));
        }
    }

    /// All streams that are open ended.
    pub(crate) fn end_all(&mut self, when: Instant, how: HowEnded) {
        let mut open: Vec<u64> = self.streams.keys().copied().collect();
        open.sort_unstable();
        open.into_iter().for_each(|exchange| self.end(when, exchange, how));
    }
}

/// A number of bytes as people say it.
pub(crate) fn told(bytes: usize) -> String {
    if bytes.is_multiple_of(MIB) { format!("{} MiB", bytes / MIB) } else { format!("{bytes} bytes") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    fn lines(tape: &Tape) -> Vec<String> {
        let line = |line: &Line| match line {
            Line::Chunk(chunk) => chunk.text.clone().unwrap(),
            Line::End(end) => format!("{:?}", end.how),
            Line::Note(note) => note.text.clone(),
            other => panic!("{other:?}"),
        };
        tape.lines().iter().map(line).collect()
    }

    #[test]
    fn a_stream_that_is_too_long_is_kept_up_to_the_end_of_a_frame_and_the_recording_says_so() {
        let tape = Tape::new();
        let mut ledger = Ledger::new(tape.clone(), Room { body: 1, stream: 10, whole: MIB });
        ledger.open_stream(1);
        for bytes in ["data: 1\n\n", "data: 2", "\n\n", "data: 3\n\n"] {
            ledger.chunk(clock::now(), 1, bytes.as_bytes());
        }
        ledger.end(clock::now(), 1, HowEnded::ClosedByServer);
        let note = "exchange 1: the stream is longer than 10 bytes; its rest passes and is not recorded";
        assert_eq!(lines(&tape), ["data: 1\n\n", "data: 2", "\n\n", note, "ClosedByServer"]);
        assert_eq!((ledger.account.events, ledger.account.left_out), (2, vec![note.to_owned()]));
    }

    #[test]
    fn a_full_recording_says_so_once_and_knows_how_its_streams_end() {
        let tape = Tape::new();
        let mut ledger = Ledger::new(tape.clone(), Room { body: 1, stream: MIB, whole: 2 * LINE_BYTES });
        ledger.open_stream(1);
        ledger.open_stream(2);
        for at in 0..4 {
            ledger.chunk(clock::now(), 1 + at % 2, b"data: 1\n\n");
        }
        ledger.end(clock::now(), 1, HowEnded::Cut);
        ledger.end(clock::now(), 3, HowEnded::Cut);
        let note =
            format!("the recording is full at {} bytes; nothing is recorded from here on", 2 * LINE_BYTES);
        assert_eq!(lines(&tape), ["data: 1\n\n", &note, "Cut"]);
        assert_eq!(ledger.account.left_out_count, 1);
    }
}
