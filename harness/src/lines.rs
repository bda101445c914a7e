//! The lines of a program that may write anything: no line, and no lack of one, fills the memory.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// A line, or a part of one that is too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Its text, without the line's end.
    pub(crate) text: String,
    /// It is a whole line, and not cut off at the longest length.
    pub(crate) whole: bool,
}

/// Reads lines of at most `longest` bytes.
pub(crate) struct Lines<R> {
    reader: R,
    longest: usize,
    /// What there is of the next line. Here, so that a read may be given up in the middle.
    line: Vec<u8>,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, longest: usize) -> Self {
        Self { reader, longest, line: Vec::new() }
    }

    /// The next piece; `None` at the end. An output that can't be read any more has ended.
    pub(crate) async fn next(&mut self) -> Option<Piece> {
        loop {
            let found = self.reader.fill_buf().await.ok()?;
            if found.is_empty() {
                return (!self.line.is_empty()).then(|| self.piece(true));
            }
            let room = self.longest - self.line.len();
            let end = found.iter().position(|byte| *byte == b'\n');
            let (taken, used, whole) = match end {
                Some(end) if end <= room => (end, end + 1, Some(true)),
                _ if found.len() > room => (room, room, Some(false)),
                _ => (found.len(), found.len(), None),
            };
            self.line.extend_from_slice(&found[..taken]);
            self.reader.consume(used);
            if let Some(whole) = whole {
                return Some(self.piece(whole));
            }
        }
    }

    fn piece(&mut self, whole: bool) -> Piece {
        let line = std::mem::take(&mut self.line);
        Piece { text: String::from_utf8_lossy(&line).into_owned(), whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::BufReader;

    #[tokio::test]
    async fn lines_are_whole_up_to_the_longest_whatever_the_reads_are() {
        for capacity in [1, 2, 3, 64] {
            let text = "abc\n\nabcdefgh\nab";
            let mut lines = Lines::new(BufReader::with_capacity(capacity, text.as_bytes()), 3);
            let mut pieces = Vec::new();
            while let Some(piece) = lines.next().await {
                pieces.push((piece.text, piece.whole));
            }
            let expected =
                [("abc", true), ("", true), ("abc", false), ("def", false), ("gh", true), ("ab", true)];
            assert_eq!(pieces, expected.map(|(text, whole)| (text.to_owned(), whole)), "{capacity}");
        }
    }
}
