//! A body in chunks, whose own lines are taken out.

use super::{NoHttp, taken};

/// More digits than any length has; extensions behind them are passed over.
const MOST_DIGITS: u32 = 15;

/// How far a chunked body is read.
#[derive(Debug)]
pub(super) struct Chunked(At);

#[derive(Debug)]
enum At {
    /// The line that says how long the next chunk is.
    Size {
        size: u64,
        digits: u32,
    },
    /// The rest of that line.
    Extension {
        size: u64,
    },
    Data {
        left: u64,
    },
    /// The end of line behind a chunk.
    Behind,
    /// The lines behind the last chunk; is this one empty so far?
    Trailer {
        is_empty: bool,
    },
}

/// What comes next.
pub(super) enum Step<'a> {
    /// Nothing, until there are more bytes.
    More,
    /// Bytes of the body.
    Data(&'a [u8]),
    /// The body is over.
    Over,
}

impl Chunked {
    pub(super) fn new() -> Self {
        Self(At::Size { size: 0, digits: 0 })
    }

    pub(super) fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, NoHttp> {
        loop {
            if let At::Data { left } = &mut self.0 {
                let Some(data) = taken(input, *left) else { return Ok(Step::More) };
                *left -= data.len() as u64;
                if *left == 0 {
                    self.0 = At::Behind;
                }
                return Ok(Step::Data(data));
            }
            let Some((&byte, rest)) = input.split_first() else { return Ok(Step::More) };
            *input = rest;
            let behind_size =
                |size| if size == 0 { At::Trailer { is_empty: true } } else { At::Data { left: size } };
            match (&mut self.0, byte) {
                (At::Size { digits: 0, .. }, b'\n') => return Err(NoHttp("a chunk without a length")),
                (At::Size { size, .. } | At::Extension { size }, b'\n') => self.0 = behind_size(*size),
                (At::Size { size, digits }, byte) => match char::from(byte).to_digit(16) {
                    Some(digit) if *digits < MOST_DIGITS => {
                        *size = *size * 16 + u64::from(digit);
                        *digits += 1;
                    }
                    None if *digits > 0 && b";\t \r".contains(&byte) => {
                        self.0 = At::Extension { size: *size }
                    }
                    _ => return Err(NoHttp("a chunk whose length is no number")),
                },
                (At::Behind, b'\n') => self.0 = At::Size { size: 0, digits: 0 },
                (At::Behind, b'\r') | (At::Extension { .. } | At::Trailer { .. }, b'\r') => {}
                (At::Behind, _) => return Err(NoHttp("a chunk that is longer than it says")),
                (At::Trailer { is_empty: true }, b'\n') => return Ok(Step::Over),
                (At::Trailer { is_empty }, byte) => *is_empty = byte == b'\n',
                (At::Extension { .. } | At::Data { .. }, _) => {}
            }
        }
    }
}
