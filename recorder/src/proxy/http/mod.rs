//! One direction of an HTTP/1 connection, read from a copy of its bytes: heads and bodies, wherever the pieces end.
//!
//! It judges nothing. Who talks through a proxy is not to be held to the letter of a standard, so what can be read is
//! read, and what can't is said ([`NoHttp`]): from there on nobody knows where a message begins.

mod chunked;
mod head;

use chunked::{Chunked, Step};
pub(super) use head::Head;

/// A head longer than this is none.
const LONGEST_HEAD: usize = 1024 * 1024;

/// What a direction says next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// The head of a message. How its body is framed must be told with [`Messages::body_is`] before the next part.
    Head(Head),
    /// Bytes of its body.
    Data(&'a [u8]),
    /// Its end.
    End,
}

/// How a body is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// There is none.
    Nothing,
    /// It has so many bytes.
    Length(u64),
    /// In chunks.
    Chunked,
    /// It ends with the connection.
    UntilClose,
}

/// What came is no HTTP/1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct NoHttp(pub(super) &'static str);

/// A direction of a connection, and how far it is read.
#[derive(Debug)]
pub(super) struct Messages {
    state: State,
    head: Vec<u8>,
}

#[derive(Debug)]
enum State {
    Head,
    /// A head was given out, and its body's framing is not known yet.
    HeadGiven,
    Length(u64),
    Chunked(Chunked),
    UntilClose,
    Over,
}

impl Messages {
    /// At the beginning of a connection.
    pub(super) fn new() -> Self {
        Self { state: State::Head, head: Vec::new() }
    }

    /// How the body behind the latest head is framed.
    pub(super) fn body_is(&mut self, framing: Framing) {
        self.state = match framing {
            Framing::Nothing | Framing::Length(0) => State::Over,
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::Chunked(Chunked::new()),
            Framing::UntilClose => State::UntilClose,
        };
    }

    /// Would the end of the connection end the message as it should?
    pub(super) fn ends_with_the_connection(&self) -> bool {
        matches!(self.state, State::UntilClose)
    }

    /// The next part of what `input` brings; `input` is what is left of it. `None` when more must come first.
    pub(super) fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Part<'a>>, NoHttp> {
        loop {
            match &mut self.state {
                State::Head => {
                    let Some(head) = self.take_head(input)? else { return Ok(None) };
                    self.state = State::HeadGiven;
                    return Ok(Some(Part::Head(head)));
                }
                State::HeadGiven => {
                    return Err(NoHttp("a head without a framing; this is a mistake in standin"));
                }
                State::Length(left) => {
                    let Some(data) = taken(input, *left) else { return Ok(None) };
                    *left -= data.len() as u64;
                    if *left == 0 {
                        self.state = State::Over;
                    }
                    return Ok(Some(Part::Data(data)));
                }
                State::Chunked(chunked) => match chunked.next(input)? {
                    Step::More => return Ok(None),
                    Step::Data(data) => return Ok(Some(Part::Data(data))),
                    Step::Over => self.state = State::Over,
                },
                State::UntilClose => return Ok(taken(input, u64::MAX).map(Part::Data)),
                State::Over => {
                    self.state = State::Head;
                    return Ok(Some(Part::End));
                }
            }
        }
    }

    /// Takes bytes up to the empty line, and reads them.
    fn take_head(&mut self, input: &mut &[u8]) -> Result<Option<Head>, NoHttp> {
        while let Some((&byte, rest)) = input.split_first() {
            *input = rest;
            // Empty lines before a message belong to nothing.
            if self.head.is_empty() && matches!(byte, b'\r' | b'\n') {
                continue;
            }
            self.head.push(byte);
            if byte == b'\n' && (self.head.ends_with(b"\n\r\n") || self.head.ends_with(b"\n\n")) {
                return Head::read(&std::mem::take(&mut self.head)).map(Some);
            }
            if self.head.len() > LONGEST_HEAD {
                return Err(NoHttp("a head without an end"));
            }
        }
        Ok(None)
    }
}

/// Up to so many bytes of the input; `None` when it is empty.
fn taken<'a>(input: &mut &'a [u8], most: u64) -> Option<&'a [u8]> {
    let count = usize::try_from(most).unwrap_or(usize::MAX).min(input.len());
    let (data, rest) = input.split_at(count);
    *input = rest;
    (!data.is_empty()).then_some(data)
}

#[cfg(test)]
mod tests;
