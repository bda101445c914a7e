//! A body as it is kept: taken out of its coding, because nothing in a compressed body would be recognised as a
//! secret, and only as long as there is room for it.

use super::http::Head;
use crate::ledger::{MIB, told};
use fixtures::recording::Body;
use flate2::write::{MultiGzDecoder, ZlibDecoder};
use std::io::Write as _;

/// Compressed bytes are taken so many at a time: one of them may stand for a thousand.
const STEP: usize = 1024;

/// A body from this length on is a long one.
const LONG: usize = MIB;

/// Takes bytes out of their coding.
#[derive(Debug)]
pub(super) enum Decoder {
    /// They are in none.
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
    /// Nobody here can read it; why.
    Unread(String),
}

impl Decoder {
    /// For the body of this message.
    pub(super) fn of(head: &Head) -> Self {
        match head.header("content-encoding").map(str::to_ascii_lowercase).as_deref() {
            None | Some("" | "identity") => Self::Plain,
            Some("gzip" | "x-gzip") => Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            Some("deflate") => Self::Deflate(Box::new(ZlibDecoder::new(Vec::new()))),
            Some(other) => Self::Unread(format!("it is coded as '{other}'")),
        }
    }

    /// Appends what `data` stands for, and stops soon behind `most` bytes.
    pub(super) fn decode(&mut self, data: &[u8], out: &mut Vec<u8>, most: usize) {
        let mut coded = data.chunks(STEP);
        let mut is_whole = true;
        match self {
            Self::Plain => out.extend_from_slice(data),
            Self::Gzip(decoder) => {
                while is_whole
                    && out.len() <= most
                    && let Some(step) = coded.next()
                {
                    is_whole = decoder.write_all(step).and_then(|()| decoder.flush()).is_ok();
                    out.append(decoder.get_mut());
                }
            }
            Self::Deflate(decoder) => {
                while is_whole
                    && out.len() <= most
                    && let Some(step) = coded.next()
                {
                    is_whole = decoder.write_all(step).and_then(|()| decoder.flush()).is_ok();
                    out.append(decoder.get_mut());
                }
            }
            Self::Unread(_) => {}
        }
        if !is_whole {
            *self = Self::Unread("it is not in the coding that it names".to_owned());
        }
    }
}

/// A body that is being kept.
#[derive(Debug)]
pub(super) struct Collected {
    decoder: Decoder,
    kept: Vec<u8>,
    /// As it crossed the wire.
    passed: u64,
    most: usize,
    is_over: bool,
}

impl Collected {
    /// Of this message; not longer than `most`.
    pub(super) fn new(head: &Head, most: usize) -> Self {
        Self { decoder: Decoder::of(head), kept: Vec::new(), passed: 0, most, is_over: false }
    }

    pub(super) fn take(&mut self, data: &[u8]) {
        self.passed += data.len() as u64;
        if self.is_over {
            return;
        }
        self.decoder.decode(data, &mut self.kept, self.most);
        if self.kept.len() > self.most {
            self.is_over = true;
            self.kept = Vec::new();
        }
    }

    /// What is recorded of it.
    pub(super) fn finish(self) -> Kept {
        let why = match self.decoder {
            _ if self.passed == 0 => None,
            _ if self.is_over => Some(format!("it is longer than {}", told(self.most))),
            Decoder::Unread(why) => Some(why),
            _ => None,
        };
        match why {
            Some(why) => {
                let left_out = Some(format!("{} bytes passed and are not recorded: {why}", self.passed));
                Kept { left_out, ..Kept::default() }
            }
            None => Kept { bytes: self.kept.len(), body: spelled(self.kept), left_out: None },
        }
    }
}

/// What is recorded of a body.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) body: Body,
    pub(super) bytes: usize,
    /// Why it is not recorded, if it isn't.
    pub(super) left_out: Option<String>,
}

/// A long body is not taken apart to find the nicest spelling: it would take longer than to pass it on.
fn spelled(bytes: Vec<u8>) -> Body {
    if bytes.len() < LONG {
        return Body::from_bytes(&bytes);
    }
    String::from_utf8(bytes).map_or_else(|error| Body::from_bytes(error.as_bytes()), Body::Text)
}

#[cfg(test)]
mod tests {
    use super::super::http::{Messages, Part};
    use super::*;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    fn head(coding: &str) -> Head {
        let text = format!("HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\n\r\n");
        match Messages::new().next(&mut text.as_bytes()) {
            Ok(Some(Part::Head(head))) => head,
            other => panic!("{other:?}"),
        }
    }

    fn kept(coding: &str, bytes: &[u8], piece: usize) -> (Body, Option<String>) {
        let mut collected = Collected::new(&head(coding), 1000);
        bytes.chunks(piece).for_each(|piece| collected.take(piece));
        let Kept { body, left_out, .. } = collected.finish();
        (body, left_out)
    }

    #[test]
    fn a_compressed_body_is_kept_as_what_it_says() {
        let (mut gzip, mut zlib) = (
            GzEncoder::new(Vec::new(), Compression::default()),
            ZlibEncoder::new(Vec::new(), Compression::default()),
        );
        gzip.write_all(b"hello").unwrap();
        zlib.write_all(b"hello").unwrap();
        let (gzip, zlib) = (gzip.finish().unwrap(), zlib.finish().unwrap());
        for piece in [1, 3, 100] {
            for (coding, bytes) in [("", &b"hello"[..]), ("gzip", &gzip), ("GZIP", &gzip), ("deflate", &zlib)]
            {
                assert_eq!(
                    kept(coding, bytes, piece),
                    (Body::Text("hello".into()), None),
                    "{coding} {piece}"
                );
            }
        }
    }

    #[test]
    fn what_can_not_be_kept_says_why() {
        let mut bomb = GzEncoder::new(Vec::new(), Compression::default());
        bomb.write_all(&[b'a'; 100_000]).unwrap();
        let bomb = bomb.finish().unwrap();
        for (coding, bytes, why) in [
            ("br", &b"xyz"[..], "3 bytes passed and are not recorded: it is coded as 'br'".to_owned()),
            (
                "gzip",
                b"xyzxyzxyzxyz",
                "12 bytes passed and are not recorded: it is not in the coding that it names".to_owned(),
            ),
            (
                "",
                &[b'a'; 1001],
                "1001 bytes passed and are not recorded: it is longer than 1000 bytes".to_owned(),
            ),
            (
                "gzip",
                &bomb,
                format!("{} bytes passed and are not recorded: it is longer than 1000 bytes", bomb.len()),
            ),
        ] {
            assert_eq!(kept(coding, bytes, 4096), (Body::Empty, Some(why)), "{coding}");
        }
        assert_eq!(kept("br", b"", 1), (Body::Empty, None));
    }
}
